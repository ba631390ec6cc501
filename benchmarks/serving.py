"""The site under load: distinct requests a second, median times, page weight, memory.

``python -m benchmarks.serving URL [--export FILE]`` serves the catalog at URL, after importing
the export into it where one is given, with ``ki serve`` on a free port of 127.0.0.1; prints
figures as JSON lines and stops its servers. It takes about 70 s besides the import.
"""

from __future__ import annotations

import argparse
import gzip
import random
import statistics
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from benchmarks.load import put_load
from benchmarks.memory import tree_mb
from benchmarks.questions import exact_questions, search_words
from benchmarks.report import Figure, emit
from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.digest_reads import read_digests
from kernelindex.sources import find_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

API = "/api/v1"
CLIENTS = 8
WARM_S, ALONE_S, TOGETHER_S = 2, 3, 5
PREFIX = 32
"""Hex digits that a path names a run by."""
START_S = 30.0


class Work(NamedTuple):
    """One kind of request with its targets."""

    name: str
    paths: Sequence[str]
    p50: str
    per_s: str


def main() -> int:
    """Import where asked to, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--export", type=Path)
    wanted = parser.parse_args()
    if wanted.export:
        spec = find_source("kernelindex-export")
        assert spec is not None
        with Catalog.create(wanted.url) as catalog:
            import_records(catalog, *spec.read(wanted.export))
    with Catalog.open(wanted.url) as catalog:
        where = "PostgreSQL" if catalog.is_postgresql else "SQLite"
        works = list(works_of(catalog))
    emit(measure(wanted.url, works, where))
    return 0


def works_of(catalog: Catalog) -> Iterator[Work]:
    """Distinct requests of each kind, the same on every machine."""
    runs = read_digests(catalog, "BenchmarkRun", "", limit=20_000)
    random.Random(5).shuffle(runs)
    prefixes = [digest.removeprefix("sha256:")[:PREFIX] for digest in runs]
    yield Work("run JSON", [f"{API}/runs/{one}" for one in prefixes], "<= 2.5 ms", ">= 700/s")
    yield Work("run page", [f"/runs/{one}" for one in prefixes], "<= 6 ms", ">= 300/s")
    questions = exact_questions(catalog, 2_000)
    asked = [urlencode({"q": question_words(one)}) for one in questions]
    yield Work("resolve", [f"{API}/resolve/kernel?{one}" for one in asked], "<= 5 ms", "")
    words = [urlencode({"q": one}) for one in search_words(catalog, 2_000)]
    yield Work("search", [f"{API}/search?{one}" for one in words], "<= 8 ms", "")
    slugs = [row.slug for row in catalog.operations() if row.run_count]
    lists = [urlencode({"operation": one, "limit": n}) for n in (25, 50) for one in slugs]
    yield Work("records", [f"{API}/records?{one}" for one in lists], "<= 15 ms", "")


def question_words(question: dict[str, object]) -> str:
    """An exact question as a person types it."""
    axes = question.get("axes")
    sizes = [f"{name}={size}" for name, size in axes.items()] if isinstance(axes, dict) else []
    gpu = str(question["hardware"]).replace(" ", "-").lower()
    return " ".join([str(question["operation"]), *sizes, f"gpu:{gpu}"])


def measure(url: str, works: Sequence[Work], where: str) -> list[Figure]:
    """Every figure; one worker alone for its memory, two under load."""
    memory = {}
    with serving(url, workers=1) as (base, pid):
        for work in works:
            put_load(base, work.paths, clients=CLIENTS, seconds=WARM_S)
        memory[1] = tree_mb(pid)
    with serving(url, workers=2) as (base, pid):
        figures = [figure for work in works for figure in load_figures(base, work, where)]
        memory[2] = tree_mb(pid)
        figures.append(weight_figure(base, works[1].paths[:50], where))
    targets = {1: "<= 150 MB", 2: "<= 260 MB"}
    figures += [
        Figure(
            work=f"memory after load, {count} worker{'s' * (count > 1)}, {where}",
            value=f"{shared:.0f} MB",
            target=targets[count] if where == "SQLite" else "",
            note=f"PSS: a page that processes share counts once; RSS, which counts it in each, "
            f"{resident:.0f} MB",
        )
        for count, (shared, resident) in memory.items()
    ]
    return figures


def load_figures(base: str, work: Work, where: str) -> list[Figure]:
    """The median alone and the throughput together; each asks paths not asked before."""
    put_load(base, work.paths, clients=2, seconds=WARM_S)
    third = len(work.paths) // 3
    alone = put_load(base, work.paths, clients=1, seconds=ALONE_S, start=third)
    together = put_load(base, work.paths, clients=CLIENTS, seconds=TOGETHER_S, start=2 * third)
    failed = alone.failed + together.failed
    note = f"{failed} failed" if failed else ""
    return [
        Figure(
            work=f"{work.name} over HTTP, {where}, p50 at 1 client",
            value=f"{alone.p50_ms:.2f} ms",
            target=work.p50,
            note=note,
        ),
        Figure(
            work=f"{work.name} over HTTP, {where}, distinct at {CLIENTS} clients, 2 workers",
            value=f"{together.per_s:.0f}/s",
            target=work.per_s,
            note=note,
        ),
    ]


def weight_figure(base: str, paths: Sequence[str], where: str) -> Figure:
    """The median run page in KB, plain and as compressed for browsers."""
    plain, packed = [], []
    for path in paths:
        asked = Request(base + path, headers={"accept-encoding": "gzip"})
        with urlopen(asked) as answer:
            body = answer.read()
        packed.append(len(body))
        plain.append(len(gzip.decompress(body)))
    return Figure(
        work=f"weight of a run page, {where}, plain / gzip",
        value=f"{statistics.median(plain) / 1e3:.1f} / {statistics.median(packed) / 1e3:.1f} KB",
        target="<= 25 KB",
    )


@contextmanager
def serving(url: str, *, workers: int, rate: str | None = None) -> Iterator[tuple[str, int]]:
    """A server of its own on a free port: its address and process; ``rate`` as ``ki serve``'s."""
    program = [sys.executable, "-c", "from kernelindex.cli.main import run; run()"]
    command = [*program, "--db", url, "serve", "--port", "0", "--workers", str(workers)]
    command += ["--rate", rate] if rate else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            base = next(word for word in server.stdout.readline().split() if "://" in word)
            await_answer(base)
            yield base, server.pid
        finally:
            server.terminate()


def await_answer(base: str) -> None:
    """Wait until the server answers."""
    end = monotonic() + START_S
    while True:
        try:
            urlopen(f"{base}/health", timeout=START_S).close()
        except URLError:
            if monotonic() > end:
                raise
            sleep(0.1)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
