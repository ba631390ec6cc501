"""A long run at a steady rate: is memory flat, does an answer fail, does an import hold readers up?

``python -m benchmarks.soak URL [--seconds 600] [--rate 100] [--import-runs 100000]`` serves the
catalog at URL with two workers, asks distinct run pages and run JSON at ``rate`` a second, and
imports synthetic runs into the same catalog meanwhile. Prints figures as JSON lines.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING

import httpx2

from benchmarks.report import Figure, emit, percentile
from kernelindex.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKERS = 2
CLIENTS = 16
SAMPLE_EVERY_S = 10.0
PAGES = 4_000


def main() -> int:
    """Serve, load, import beside, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--import-runs", type=int, default=100_000)
    wanted = parser.parse_args()
    paths = run_paths(wanted.url)
    command = [sys.executable, "-c", "from kernelindex.cli.main import run; run()"]
    serve = [*command, "--db", wanted.url, "serve", "--port", "0", "--workers", str(WORKERS)]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            base = next(word for word in server.stdout.readline().split() if "http" in word)
            await_answers(base)
            importer = start_import(wanted.url, wanted.import_runs)
            figures = asyncio.run(Soak(base, server.pid, paths, wanted.rate).run(wanted.seconds))
            note = "" if importer is None else f"; import ended with {importer.wait()}"
            emit([Figure(work=one.work + note, value=one.value) for one in figures])
        finally:
            server.terminate()
    return 0


def await_answers(base: str) -> None:
    """Return when the server answers; it says its address before its workers are up."""
    for _ in range(100):
        with contextlib.suppress(httpx2.HTTPError):
            if httpx2.get(f"{base}/health").status_code == 200:
                return
        sleep(0.2)
    raise RuntimeError(f"no answer from {base}")


def run_paths(url: str) -> list[str]:
    """Addresses of distinct runs, page and JSON in turn."""
    with Catalog.open(url) as catalog:
        digests, cursor = [], None
        while len(digests) < PAGES:
            page = catalog.runs(cursor=cursor, limit=200)
            digests += [row.digest[7:23] for row in page.rows]
            cursor = page.cursor
            if cursor is None:
                break
    shapes = ("/runs/{}", "/api/v1/runs/{}")
    return [shapes[place % 2].format(digest) for place, digest in enumerate(digests)]


def start_import(url: str, runs: int) -> subprocess.Popen[bytes] | None:
    """An import of synthetic runs in a process of its own."""
    if not runs:
        return None
    code = (
        "from benchmarks.synthetic import make_rows, make_snapshot\n"
        "from kernelindex.catalog import Catalog, import_records\n"
        f"with Catalog.open({url!r}) as catalog:\n"
        f"    import_records(catalog, make_snapshot({runs}), make_rows({runs}))\n"
    )
    return subprocess.Popen([sys.executable, "-c", code])


class Soak:
    """Clients that share one steady pace, and what they saw."""

    def __init__(self, base: str, pid: int, paths: list[str], rate: float) -> None:
        self.base, self.pid, self.rate = base, pid, rate
        self.paths: Iterator[str] = itertools.cycle(paths)
        self.statuses: Counter[str] = Counter()
        self.times: list[float] = []
        self.memory_mb: list[float] = []

    async def run(self, seconds: float) -> list[Figure]:
        """Load the server for ``seconds``."""
        self.until = monotonic() + seconds
        async with httpx2.AsyncClient(base_url=self.base, timeout=30) as client:
            loads = [self._load(client, place) for place in range(CLIENTS)]
            await asyncio.gather(self._watch(), *loads)
        return self._figures(seconds)

    async def _load(self, client: httpx2.AsyncClient, place: int) -> None:
        step = CLIENTS / self.rate
        due = monotonic() + place * step / CLIENTS
        while due < self.until:
            await asyncio.sleep(max(0.0, due - monotonic()))
            start = perf_counter()
            try:
                answer = await client.get(next(self.paths))
                self.statuses[str(answer.status_code)] += 1
            except httpx2.HTTPError as error:
                self.statuses[type(error).__name__] += 1
            self.times.append(perf_counter() - start)
            due += step

    async def _watch(self) -> None:
        while monotonic() < self.until:
            self.memory_mb.append(resident_mb(self.pid))
            await asyncio.sleep(SAMPLE_EVERY_S)

    def _figures(self, seconds: float) -> list[Figure]:
        asked = len(self.times)
        memory = self.memory_mb
        settled = memory[len(memory) // 4 :] or memory
        answers = ", ".join(f"{count} x {status}" for status, count in self.statuses.items())
        p50, p99 = (percentile(self.times, share) * 1e3 for share in (0.5, 0.99))
        return [
            Figure(
                work=f"{seconds:.0f} s at {asked / seconds:.0f} distinct requests/s, 2 workers",
                value=f"{answers}; p50 {p50:.1f} ms, p99 {p99:.0f} ms, "
                f"memory {memory[0]:.0f} MB at first, then {min(settled):.0f} to "
                f"{max(settled):.0f} MB, {memory[-1]:.0f} MB at last",
            )
        ]


def resident_mb(pid: int) -> float:
    """Resident memory of a process and its children, in MB."""
    total = 0
    for one in (pid, *children(pid)):
        status = Path(f"/proc/{one}/status")
        if status.exists():
            lines = status.read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return total / 1024


def children(pid: int) -> list[int]:
    """All processes below a process."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    below = [int(text) for text in listed.read_text().split()] if listed.exists() else []
    return [*below, *(deeper for one in below for deeper in children(one))]


if __name__ == "__main__":
    sys.exit(main())
