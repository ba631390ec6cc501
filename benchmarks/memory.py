"""Memory of a process and all below it, as Linux counts it."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

KB = 1024


def tree_mb(pid: int) -> tuple[float, float]:
    """PSS and RSS in MB of a process and all below it.

    PSS counts a page that several processes share once, divided among them, so that its sum is
    what they take together; RSS counts it in each.
    """
    shared = resident = 0
    for one in (pid, *children(pid)):
        rollup = Path(f"/proc/{one}/smaps_rollup")
        try:
            lines = rollup.read_text().splitlines()
        except OSError:  # it ended meanwhile
            continue
        found = {line.split()[0]: line.split()[1] for line in lines[1:]}
        shared += int(found["Pss:"])
        resident += int(found["Rss:"])
    return shared / KB, resident / KB


def children(pid: int) -> list[int]:
    """All processes below a process."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    below = [int(text) for text in listed.read_text().split()] if listed.exists() else []
    return [*below, *(deeper for one in below for deeper in children(one))]


def settled_growth(samples: Sequence[float]) -> float:
    """Growth from the second quarter's median to the last's, as a share; 0 for too few."""
    quarter = len(samples) // 4
    if not quarter:
        return 0.0
    second = statistics.median(samples[quarter : 2 * quarter])
    return statistics.median(samples[-quarter:]) / second - 1.0
