"""One catalog size on one database: import, resolve, search, memory, each beside a bare peer.

Run as ``python -m benchmarks.growth RUNS URL``; prints figures as JSON lines.
"""

from __future__ import annotations

import resource
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.questions import exact_questions, search_words
from benchmarks.report import Figure, emit, p50_p95_ms, time_each
from benchmarks.synthetic import make_rows, make_snapshot
from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.tables import derived
from kernelindex.resolve import ask_document, ask_text

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS = 300
RESOLVE_TARGETS = {1_000_000: "<= 10 ms"}
SEARCH_TARGETS = {1_000_000: "<= 25 ms"}


def measure(runs: int, url: str) -> list[Figure]:
    """Import ``runs`` synthetic runs into the empty catalog at ``url`` and question it."""
    with Catalog.create(url) as catalog:
        where = "PostgreSQL" if catalog.is_postgresql else "SQLite"
        label = f"{runs:,} runs, {where}"
        imported = import_figure(catalog, runs, label)
        return [imported, *question_figures(catalog, runs, label)]


def import_figure(catalog: Catalog, runs: int, label: str) -> Figure:
    """Rows generated, validated, digested, judged and published; peak memory of the process."""
    start = perf_counter()
    report = import_records(catalog, make_snapshot(runs), make_rows(runs))
    seconds = perf_counter() - start
    assert report.added == runs
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    generated = time_generation(min(runs, 50_000))
    return Figure(
        work=f"import {label}",
        value=f"{seconds:.1f} s, {runs / seconds:,.0f} runs/s, peak {peak:.0f} MB",
        target="linear; memory flat",
        peer=f"making the rows alone: {generated:,.0f} rows/s",
    )


def time_generation(runs: int) -> float:
    """Rows a second of the generator itself, which validates and digests each manifest."""
    start = perf_counter()
    count = sum(1 for _ in make_rows(runs))
    return count / (perf_counter() - start)


def question_figures(catalog: Catalog, runs: int, label: str) -> list[Figure]:
    """Resolve, text question and search, each question asked once."""
    requests = exact_questions(catalog, QUESTIONS)
    words = search_words(catalog, QUESTIONS)
    ask_document(catalog, requests[0])
    answers = time_each(requests, lambda request: ask_document(catalog, request))
    texts = time_each(words, lambda text: ask_text(catalog, text))
    hits = time_each(words, lambda text: catalog.search_text(text, limit=20))
    return [
        Figure(
            work=f"resolve an exact workload, {label}, p50 / p95",
            value=p50_p95_ms(answers),
            target=RESOLVE_TARGETS.get(runs, "<= 5 ms"),
            peer=f"one indexed row by SQLAlchemy: {p50_p95_ms(bare_reads(catalog, requests))}",
        ),
        Figure(work=f"resolve a question in words, {label}, p50 / p95", value=p50_p95_ms(texts)),
        Figure(
            work=f"search, {label}, p50 / p95",
            value=p50_p95_ms(hits),
            target=SEARCH_TARGETS.get(runs, "<= 8 ms"),
        ),
    ]


def bare_reads(catalog: Catalog, requests: Sequence[dict[str, object]]) -> list[int]:
    """The least a question can cost here: one indexed row fetched by its operation."""

    def read(request: dict[str, object]) -> None:
        with catalog.reading() as conn:
            table = derived.cohorts
            query = table.select().where(table.c.operation == request["operation"]).limit(1)
            conn.execute(query).first()

    return time_each(requests, read)


if __name__ == "__main__":
    emit(measure(int(sys.argv[1]), sys.argv[2]))
