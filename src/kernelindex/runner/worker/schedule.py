"""Orders of candidates over rounds: each as often as possible in each place and after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex.stats import Random


def draw_rounds(count: int, rounds: int, random: Random) -> list[list[int]]:
    """``rounds`` orders of ``count`` candidates.

    Rows of Williams squares (Williams 1949), relabelled and shuffled at random: within one
    square every candidate is once in every place and once after every other (for an odd
    count, twice over a pair of squares).
    """
    if count == 0:
        return [[] for _ in range(rounds)]
    orders: list[list[int]] = []
    while len(orders) < rounds:
        labels = random.shuffled(range(count))
        rows = [[labels[place] for place in row] for row in williams_square(count)]
        orders += random.shuffled(rows)
    return orders[:rounds]


def williams_square(count: int) -> list[list[int]]:
    """The balanced rows: ``count`` of them for an even count, twice as many for an odd one."""
    zigzag = [place // 2 if place % 2 == 0 else count - 1 - place // 2 for place in range(count)]
    rows = [[(one + shift) % count for one in zigzag] for shift in range(count)]
    if count % 2 == 0 or count == 1:
        return rows
    return rows + [row[::-1] for row in rows]


def draw_calls(wanted: int, low: int, high: int, random: Random) -> int:
    """About ``wanted`` calls, within a fifth and the bounds, so that no last call is foreseen."""
    drawn = round(wanted * (0.8 + 0.4 * random.uniform()))
    return max(low, min(high, drawn))
