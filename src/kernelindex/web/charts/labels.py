"""Labels that stand beside what they name without standing on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near ``wanted``, at least ``gap`` apart, inside [low, high] where they fit.

    Neighbours that are too near share the distance they have to move.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[tuple[float, int]] = []
    for index in order:
        blocks.append((_inside(wanted[index], 1, gap, low, high), 1))
        while len(blocks) > 1 and _overlap(blocks[-2], blocks[-1], gap):
            (above, many), (below, few) = blocks[-2], blocks[-1]
            count = many + few
            centre = (above * many + below * few) / count
            blocks[-2:] = [(_inside(centre, count, gap, low, high), count)]
    places = [
        centre + gap * (position - (count - 1) / 2)
        for centre, count in blocks
        for position in range(count)
    ]
    found = [0.0] * len(wanted)
    for index, place in zip(order, places, strict=True):
        found[index] = place
    return found


def _overlap(above: tuple[float, int], below: tuple[float, int], gap: float) -> bool:
    return below[0] - above[0] < gap * (above[1] + below[1]) / 2 - 1e-9


def _inside(centre: float, count: int, gap: float, low: float, high: float) -> float:
    half = gap * (count - 1) / 2
    return max(low + half, min(centre, high - half)) if high - low >= 2 * half else low + half
