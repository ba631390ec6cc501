"""One measured figure, and the table of all of them."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure with its target and, where there is one, its peer measured beside it."""

    work: str
    value: str
    target: str = ""
    peer: str = ""
    note: str = ""


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; ``share`` is 0..1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def p50_p95_ms(times_ns: Sequence[int]) -> str:
    """Median and 95th percentile as text in ms."""
    return f"{percentile(times_ns, 0.5) / 1e6:.2f} / {percentile(times_ns, 0.95) / 1e6:.2f} ms"


def time_each(calls: Iterable[object], run: object) -> list[int]:
    """Nanoseconds of ``run(call)`` for each call."""
    assert callable(run)
    times = []
    for call in calls:
        start = perf_counter_ns()
        run(call)
        times.append(perf_counter_ns() - start)
    return times


def describe_machine() -> dict[str, str]:
    """What the figures were measured on."""
    cpu = "unknown"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].split(":", 1)[1].strip() if names else cpu
    return {
        "cpu": cpu,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "commit": _commit(),
    }


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def as_markdown(figures: Sequence[Figure]) -> str:
    """A Markdown table of the figures."""
    head = "| work | measured | target | peer, same run | note |\n|---|---|---|---|---|\n"
    return head + "".join(map(_row, figures))


def update_page(page: str, figures: Sequence[Figure], title: str) -> str:
    """The page with the rows of these figures replaced where they stand, and all else as it is.

    Figures that it has no row for follow at its end, in a table of their own below ``title``.
    """
    lines = page.splitlines(keepends=True)
    places = {_work_of(line): place for place, line in enumerate(lines) if line.startswith("| ")}
    for one in figures:
        if one.work in places:
            lines[places[one.work]] = _row(one)
    new = [one for one in figures if one.work not in places]
    return "".join(lines) + (f"\n{title}\n\n{as_markdown(new)}" if new else "")


def _row(one: Figure) -> str:
    return f"| {one.work} | {one.value} | {one.target} | {one.peer} | {one.note} |\n"


def _work_of(row: str) -> str:
    return row.removeprefix("| ").partition(" | ")[0]


def emit(figures: Sequence[Figure]) -> None:
    """Print figures as JSON lines, for the program that runs this one."""
    for figure in figures:
        json.dump(asdict(figure), sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
