"""A long run at half the load that saturates: is memory flat, does an answer fail, and do readers
get their answers while an import runs beside?

``python -m benchmarks.soak URL [--seconds 600] [--rate N] [--import-runs 100000]`` serves the
catalog at URL with two workers and no rate limit (``ki serve --rate off``: the load comes from
one address), asks distinct run pages and run JSON in turn at ``rate`` a second, by default half
of what the server gives at most here, and from a tenth of the time on imports synthetic runs
into the same catalog. It asks until the time is over and the import has ended. Prints figures
as JSON lines; exits with 1 where an answer failed, the import did, or memory grew by more than
``MOST_GROWTH``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.load import put_load, read_status, request_bytes
from benchmarks.memory import settled_growth, tree_mb
from benchmarks.report import Figure, emit, percentile
from benchmarks.serving import serving
from kernelindex.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKERS = 2
CLIENTS = 16
SATURATING_S = 10
SAMPLE_EVERY_S = 2.0
PAGES = 4_000
ANSWER_S = 30.0
MOST_GROWTH = 0.05
"""Of memory, from the second quarter of the time to the last."""
GOOD = "200"


def main() -> int:
    """Serve, find the load, load, import beside, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--import-runs", type=int, default=100_000)
    wanted = parser.parse_args()
    paths = run_paths(wanted.url)
    with serving(wanted.url, workers=WORKERS, rate="off") as (base, pid):
        most = put_load(base, paths, clients=8, seconds=SATURATING_S).per_s
        rate = wanted.rate or most / 2
        soak = Soak(base, pid, paths, rate, Beside(wanted.url, wanted.import_runs))
        asyncio.run(soak.run(wanted.seconds))
        emit(soak.figures(most))
    return int(not soak.is_good)


def run_paths(url: str) -> list[str]:
    """Addresses of distinct runs, page and JSON in turn."""
    with Catalog.open(url) as catalog:
        digests: list[str] = []
        cursor = None
        while len(digests) < PAGES:
            page = catalog.runs(cursor=cursor, limit=200)
            digests += [row.digest[7:23] for row in page.rows]
            cursor = page.cursor
            if cursor is None:
                break
    shapes = ("/runs/{}", "/api/v1/runs/{}")
    return [shapes[place % 2].format(digest) for place, digest in enumerate(digests)]


class Beside:
    """An import of synthetic runs in a process of its own, started when told."""

    def __init__(self, url: str, runs: int) -> None:
        self.url, self.runs = url, runs
        self.seconds = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._begun = 0.0

    def start(self) -> None:
        """Begin to import, where any runs are wanted."""
        code = (
            "from benchmarks.synthetic import make_rows, make_snapshot\n"
            "from kernelindex.catalog import Catalog, import_records\n"
            f"with Catalog.open({self.url!r}) as catalog:\n"
            f"    import_records(catalog, make_snapshot({self.runs}), make_rows({self.runs}))\n"
        )
        if self.runs and self._process is None:
            self._begun = monotonic()
            self._process = subprocess.Popen([sys.executable, "-c", code])

    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        if self._process is None:
            return False
        running = self._process.poll() is None
        if running:
            self.seconds = monotonic() - self._begun
        return running

    def said(self) -> str:
        """How it went."""
        if self._process is None:
            return "no import beside"
        ended = self._process.poll()
        return f"import of {self.runs:,} runs took {self.seconds:.0f} s and ended with {ended}"

    @property
    def is_good(self) -> bool:
        """Whether it ended well, or none was wanted."""
        return self._process is None or self._process.poll() == 0


@dataclass
class Seen:
    """What the clients saw in one part of the time."""

    times: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    def add(self, status: str, seconds: float) -> None:
        self.statuses[status] += 1
        self.times.append(seconds)

    def words(self) -> str:
        if not self.times:
            return "no answer"
        answers = ", ".join(f"{count:,} x {status}" for status, count in self.statuses.items())
        p50, p99 = (percentile(self.times, share) * 1e3 for share in (0.5, 0.99))
        return f"{answers}; p50 {p50:.1f}, p99 {p99:.0f}, longest {max(self.times) * 1e3:.0f} ms"


class Soak:
    """Clients that share one steady pace, and what they saw."""

    def __init__(self, base: str, pid: int, paths: list[str], rate: float, beside: Beside) -> None:
        self.base, self.pid, self.rate, self.beside = base, pid, rate, beside
        self.paths: Iterator[str] = itertools.cycle(paths)
        self.alone, self.importing = Seen(), Seen()
        self.memory_mb: list[tuple[float, float]] = []
        self.took_s = 0.0

    async def run(self, seconds: float) -> None:
        """Load the server for ``seconds``, and on until the import has ended."""
        self._begun, self._seconds = monotonic(), seconds
        clients = [self._load(place) for place in range(CLIENTS)]
        await asyncio.gather(self._watch(), *clients)
        self.took_s = monotonic() - self._begun

    def _is_over(self) -> bool:
        return monotonic() - self._begun > self._seconds and not self.beside.is_running()

    async def _load(self, place: int) -> None:
        step = CLIENTS / self.rate
        due = monotonic() + place * step / CLIENTS
        where = urlsplit(self.base)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        while not self._is_over():
            await asyncio.sleep(max(0.0, due - monotonic()))
            seen = self.importing if self.beside.is_running() else self.alone
            start = perf_counter()
            try:
                writer.write(request_bytes(next(self.paths)))
                status = (await asyncio.wait_for(read_status(reader), ANSWER_S)).decode()
            except (OSError, EOFError, TimeoutError) as error:
                status = type(error).__name__
                reader, writer = await asyncio.open_connection(where.hostname, where.port)
            seen.add(status, perf_counter() - start)
            due += step
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def _watch(self) -> None:
        while not self._is_over():
            self.memory_mb.append(tree_mb(self.pid))
            if monotonic() - self._begun > self._seconds / 10:
                self.beside.start()
            await asyncio.sleep(SAMPLE_EVERY_S)

    @property
    def is_good(self) -> bool:
        """Whether every answer came, the import ended well and memory stayed flat."""
        statuses = self.alone.statuses + self.importing.statuses
        return set(statuses) == {GOOD} and self.beside.is_good and self._growth() <= MOST_GROWTH

    def _growth(self) -> float:
        return settled_growth([shared for shared, _ in self.memory_mb])

    def figures(self, most: float) -> list[Figure]:
        """What was seen alone and beside the import, and memory."""
        asked = len(self.alone.times) + len(self.importing.times)
        shared, resident = zip(*self.memory_mb, strict=True)
        work = f"{self.took_s:.0f} s at {asked / self.took_s:.0f} distinct requests/s, 2 workers"
        load = f"{most:.0f}/s saturate it here"
        return [
            Figure(work=f"{work}, answers", value=self.alone.words(), note=load),
            Figure(
                work=f"{work}, answers during an import",
                value=self.importing.words(),
                note=self.beside.said(),
            ),
            Figure(
                work=f"{work}, memory",
                value=f"{shared[0]:.0f} MB at first, {min(shared):.0f} to {max(shared):.0f} MB, "
                f"{shared[-1]:.0f} MB at last; {self._growth():+.1%} from the second quarter "
                "to the last",
                target=f"grows by {MOST_GROWTH:.0%} at most",
                note=f"pages that processes share counted once; counted in each, "
                f"{max(resident):.0f} MB at most",
            ),
        ]


if __name__ == "__main__":
    sys.exit(main())
