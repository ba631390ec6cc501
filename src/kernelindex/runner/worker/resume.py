"""What a batch folder already holds: its seed, finished generations, what is missing."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError
from kernelindex.runner import batch_files
from kernelindex.runner.plan import Plan, load_plan, plan_to_json
from kernelindex.runner.worker.stopping import wants_another
from kernelindex.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kernelindex.runner.plan import Point


class WorkerError(KernelIndexError):
    """Raised when a batch cannot be started or taken up again."""

    code = "worker.refused"


def open_folder(plan: Plan, folder: Path) -> str:
    """Make or take up a batch folder; its seed. Raises WorkerError for another plan's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / batch_files.PLAN
    if kept.exists():
        if load_plan(kept) != plan:
            raise WorkerError(f"{folder}: holds the batch of another plan; choose another --out")
    else:
        write_whole(kept, plan_to_json(plan).encode())
    return _open_seed(folder)


def _open_seed(folder: Path) -> str:
    secret, revealed = folder / batch_files.SEED_SECRET, folder / batch_files.SEED
    if revealed.exists():
        return str(batch_files.read_json(revealed)["seed"])
    if secret.exists():
        return secret.read_text().strip()
    seed = secrets.token_hex(32)
    descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(seed)
        file.flush()
        os.fsync(descriptor)
    return seed


def commitment(seed: str) -> str:
    """What is published of a seed before anything is measured."""
    return batch_files.digest(seed.encode())


def reveal_seed(folder: Path, seed: str) -> None:
    """Publish the seed of a batch that is complete."""
    found = {"seed": seed, "commitment": commitment(seed)}
    batch_files.write_json(folder / batch_files.SEED, found)
    (folder / batch_files.SEED_SECRET).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Missing:
    """One generation that is still to be measured."""

    point: Point
    index: int
    generation: int

    def text(self) -> str:
        """Its name in an outcome."""
        return f"{self.point.id} generation {self.generation}"


def load_done(plan: Plan, folder: Path) -> dict[str, list[Mapping[str, Any]]]:
    """The finished generations of every point, in order, up to the first gap.

    One that the journal does not name was not finished: its worker was killed before it said
    so, and it is measured anew. ``find_damage`` has held the others against their digests.
    """
    finished = batch_files.journaled_generations(folder)
    done: dict[str, list[Mapping[str, Any]]] = {}
    for index, point in enumerate(plan.points):
        found = done.setdefault(point.id, [])
        for generation in range(plan.rules.max_generations):
            path = batch_files.generation_file(folder, index, generation)
            if path.name not in finished:
                break
            found.append(batch_files.read_json(path))
    return done


def next_missing(plan: Plan, done: Mapping[str, list[Mapping[str, Any]]]) -> Missing | None:
    """The first generation that the stopping rule still wants, point by point."""
    for index, point in enumerate(plan.points):
        found = done[point.id]
        if wants_another(found, plan.rules, plan.subjects(point)):
            return Missing(point, index, len(found))
    return None


def all_missing(plan: Plan, done: Mapping[str, list[Mapping[str, Any]]]) -> list[str]:
    """Names of the generations that the plan's least number lacks."""
    return [
        Missing(point, index, generation).text()
        for index, point in enumerate(plan.points)
        if wants_another(done[point.id], plan.rules, plan.subjects(point))
        for generation in range(len(done[point.id]), plan.rules.generations)
    ]
