"""Distinct questions over a catalog, drawn from what it holds, the same on every machine."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex.catalog import Catalog

GPUS = ("H100", "B200", "H200", "A100", "L4", "RTX 4090", "MI300X", "GB200")


def exact_questions(catalog: Catalog, count: int, seed: int = 7) -> list[dict[str, object]]:
    """Requests for exact workloads: measured shapes, some on GPUs that have no result."""
    rng = random.Random(seed)
    operations = [row for row in catalog.operations() if row.shape_count]
    questions: list[dict[str, object]] = []
    while len(questions) < count:
        operation = rng.choice(operations)
        shapes = catalog.shapes(operation.slug)
        for shape in rng.sample(shapes, min(4, len(shapes), count - len(questions))):
            question: dict[str, object] = {
                "operation": shape.operation,
                "hardware": rng.choice(GPUS),
            }
            if shape.axes:
                question["axes"] = dict(shape.axes)
            questions.append(question)
    return questions


def search_words(catalog: Catalog, count: int, seed: int = 11) -> list[str]:
    """Words a person would type: titles, families and GPUs, in ones and twos, some mistyped."""
    rng = random.Random(seed)
    titles = [row.title for row in catalog.operations()]
    words = sorted({word for title in titles for word in title.split() if len(word) > 2})
    drawn = []
    for _ in range(count):
        word = rng.choice(words)
        if rng.random() < 0.15:
            word = word[:-2] + word[-1:] + word[-2:-1]
        drawn.append(f"{word} {rng.choice(GPUS)}" if rng.random() < 0.4 else word)
    return drawn
