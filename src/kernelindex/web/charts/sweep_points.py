"""What a sweep says: ratios, unbroken runs of measured sizes, and where the lead changes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.web.charts.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.web.charts.sweep import SweepLine


@dataclass(frozen=True, slots=True)
class Crossover:
    """The lead passes from one line to another somewhere between two measured sizes."""

    low: int
    high: int
    before: str
    after: str

    @property
    def words(self) -> str:
        """The change as it is said in the key."""
        return f"{self.before} up to {self.low:,}, {self.after} from {self.high:,}"


def ratios_of(lines: Sequence[SweepLine], *, higher: bool) -> list[dict[int, float]]:
    """Of each line, size -> how many times worse than the best at that size (1.0 = best)."""
    best: dict[int, float] = {}
    for line in lines:
        for point in line.points:
            if point.size > 0 < point.value:
                known = best.get(point.size, point.value)
                best[point.size] = (max if higher else min)(known, point.value)
    return [
        {
            point.size: best[point.size] / point.value if higher else point.value / best[point.size]
            for point in line.points
            if point.size > 0 < point.value
        }
        for line in lines
    ]


def runs_of(measured: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """``measured`` cut where a size that others have is missing."""
    found: list[list[int]] = []
    known = set(measured)
    previous = False
    for size in sizes:
        if size in known and previous:
            found[-1].append(size)
        elif size in known:
            found.append([size])
        previous = size in known
    return found


def find_crossovers(
    lines: Sequence[SweepLine], ratios: Sequence[dict[int, float]], tolerance: float
) -> list[Crossover]:
    """Changes between clear leads of two lines that were both measured at both sizes.

    A lead is clear where every other line is more than ``tolerance`` behind.
    """
    clear = [
        (size, leader)
        for size in sorted({size for found in ratios for size in found})
        if (leader := _clear_leader(size, ratios, tolerance)) is not None
    ]
    found = []
    for (low, before), (high, after) in itertools.pairwise(clear):
        if before != after and high in ratios[before] and low in ratios[after]:
            names = [clean_text(lines[index].name, limit=48) for index in (before, after)]
            found.append(Crossover(low, high, *names))
    return found


def _clear_leader(size: int, ratios: Sequence[dict[int, float]], tolerance: float) -> int | None:
    there = sorted((found[size], index) for index, found in enumerate(ratios) if size in found)
    if len(there) < 2 or there[1][0] <= 1 + tolerance:
        return None
    return there[0][1]
