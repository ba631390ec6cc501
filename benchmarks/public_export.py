"""Import of the public export: checked by us, copied unchecked by its peer, in one run.

Run as ``python -m benchmarks.public_export FILE URL``; prints figures as JSON lines.
"""

from __future__ import annotations

import io
import resource
import sqlite3
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.growth import QUESTIONS
from benchmarks.questions import exact_questions
from benchmarks.report import Figure, emit, p50_p95_ms, time_each
from kernelindex.catalog import Catalog, import_records
from kernelindex.resolve import ask_document, ask_text
from kernelindex.sources import find_source

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = (
    "rmsnorm H100 bf16",
    "fp8 gemm MI300X",
    "b200",
    "rmsnrom",
    "prefix sum L4",
    "causal conv1d B200",
    "moe",
)


def measure(path: Path, url: str) -> list[Figure]:
    """Import the export into the empty catalog at ``url``, then question it."""
    spec = find_source("kernelindex-export")
    assert spec is not None
    with Catalog.create(url) as catalog:
        where = "PostgreSQL" if catalog.is_postgresql else "SQLite"
        start = perf_counter()
        snapshot, rows = spec.read(path)
        report = import_records(catalog, snapshot, rows)
        seconds = perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        imported = Figure(
            work=f"import the public export, every manifest checked, {where}",
            value=f"{seconds:.1f} s for {report.read:,} rows, peak {peak:.0f} MB",
            target="<= 10 s",
            peer=f"the same lines copied unchecked into SQLite: {copy_unchecked(path):.1f} s",
        )
        return [imported, *question_figures(catalog, where)]


def question_figures(catalog: Catalog, where: str) -> list[Figure]:
    """Exact workloads of the export and the questions in words that must lead somewhere."""
    requests = exact_questions(catalog, QUESTIONS)
    ask_document(catalog, requests[0])
    answers = time_each(requests, lambda request: ask_document(catalog, request))
    texts = time_each(WORDS * 5, lambda text: ask_text(catalog, text))
    hits = time_each(WORDS * 20, lambda text: catalog.search_text(text, limit=20))
    return [
        Figure(
            work=f"resolve an exact workload of the export, {where}, p50 / p95",
            value=p50_p95_ms(answers),
            target="<= 5 ms",
        ),
        Figure(
            work=f"resolve the seven questions in words, {where}, p50 / p95",
            value=p50_p95_ms(texts),
        ),
        Figure(
            work=f"search the export, {where}, p50 / p95",
            value=p50_p95_ms(hits),
            target="<= 8 ms",
        ),
    ]


def copy_unchecked(path: Path) -> float:
    """Seconds to copy the lines into one SQLite table: nothing parsed, nothing checked."""
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "copy.db")
        database.execute("CREATE TABLE lines (number INTEGER PRIMARY KEY, body TEXT)")
        start = perf_counter()
        with database:
            database.executemany("INSERT INTO lines VALUES (?, ?)", enumerate(_lines(path)))
        seconds = perf_counter() - start
        database.close()
    return seconds


def _lines(path: Path) -> Iterator[str]:
    import zstandard

    with path.open("rb") as packed:
        reader = zstandard.ZstdDecompressor().stream_reader(packed)
        yield from io.TextIOWrapper(reader, encoding="utf-8")


if __name__ == "__main__":
    emit(measure(Path(sys.argv[1]), sys.argv[2]))
