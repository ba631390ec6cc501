"""Load on a server: so many clients ask distinct paths as fast as they are answered.

With ``wrk`` where it is installed; else by a small client of our own, which itself takes
about as much of the processor as a light answer does.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.report import percentile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCRIPT = Path(__file__).with_name("serving.lua")
WRK = shutil.which("wrk")
GOOD = b"200"


@dataclass(frozen=True, slots=True)
class Load:
    """What clients saw: median time of an answer in ms, answers a second, failures."""

    p50_ms: float
    per_s: float
    failed: int


def put_load(
    base: str, paths: Sequence[str], *, clients: int, seconds: int, start: int = 0
) -> Load:
    """Ask ``paths`` in turn from ``start`` on for ``seconds``, from ``clients`` connections."""
    if WRK is None:
        return asyncio.run(_ask(base, paths, clients, seconds, start))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(paths) + "\n")
        file.flush()
        command = [WRK, "-t1", f"-c{clients}", f"-d{seconds}", "-s", str(SCRIPT), base]
        command += ["--", file.name, str(start)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    p50_ms, per_s, failed = said.strip().splitlines()[-1].split()
    return Load(float(p50_ms), float(per_s), int(failed))


async def _ask(base: str, paths: Sequence[str], clients: int, seconds: int, start: int) -> Load:
    turn = itertools.cycle([*paths[start % len(paths) :], *paths[: start % len(paths)]])
    times: list[float] = []
    failed = 0
    begun = perf_counter()

    async def client() -> None:
        nonlocal failed
        where = urlsplit(base)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        while perf_counter() - begun < seconds:
            asked = perf_counter()
            writer.write(request_bytes(next(turn)))
            failed += await read_status(reader) != GOOD
            times.append(perf_counter() - asked)
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return Load(percentile(times, 0.5) * 1e3, len(times) / (perf_counter() - begun), failed)


def request_bytes(path: str) -> bytes:
    """A GET from an address of its own."""
    address = ".".join(str(random.randrange(250)) for _ in range(3))
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.{address}\r\n\r\n".encode()


async def read_status(reader: asyncio.StreamReader) -> bytes:
    """The status of one answer, its body read to the end."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(_length(head))
    return head[9:12]


def _length(head: bytes) -> int:
    lines: Iterator[bytes] = (line.lower() for line in head.split(b"\r\n"))
    found = next((line for line in lines if line.startswith(b"content-length:")), b":0")
    return int(found.partition(b":")[2])
