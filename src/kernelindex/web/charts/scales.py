"""Axes: from zero, or logarithmic where the values span more than ten times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.web.charts.layers import Channel
from kernelindex.web.charts.text import fit_text

if TYPE_CHECKING:
    from collections.abc import Sequence

LOG_BEYOND = 10.0
LOG_WITHIN = 1e12
"""Numbers further apart than this are no measurements of one thing."""
FAR_MARK = 1e3
"""A floor or whisker further off than this does not widen a logarithmic axis."""

_STEPS = (1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class Extent:
    """The range of an axis and how it is laid out."""

    low: float
    high: float
    is_log: bool

    def position(self, value: float, pixels: float) -> float:
        """Where ``value`` stands on an axis of this many pixels."""
        if self.is_log:
            span = math.log(self.high / self.low)
            return math.log(max(value, self.low / 1e6) / self.low) / span * pixels
        return (value - self.low) / (self.high - self.low) * pixels

    def clamp(self, value: float) -> float:
        """``value``, or the end of the axis that it lies beyond."""
        return min(max(value, self.low), self.high)

    def scale(self, reach: Sequence[float] | None = None) -> dict[str, Any]:
        """The Vega-Lite scale; ``reach`` is its range in pixels where it is not the plot's."""
        found: dict[str, Any] = {
            "type": "log" if self.is_log else "linear",
            "domain": [self.low, self.high],
            "nice": False,
            "zero": False,
        }
        if self.is_log:
            del found["zero"]
        if reach is not None:
            found["range"] = list(reach)
        return found


def value_extent(values: Sequence[float], marks: Sequence[float] = ()) -> Extent:
    """The extent of positive ``values`` from zero, or logarithmic when they span over 10x.

    ``marks`` (floors) widen the extent but do not choose the kind of axis.
    """
    low, high = min(values), max(values)
    if low > 0 and LOG_BEYOND < high / low < LOG_WITHIN:
        least = min([low, *(mark for mark in marks if mark > low / FAR_MARK)])
        most = max([high, *(mark for mark in marks if mark < high * FAR_MARK)])
        pad = (most / least) ** 0.05
        return Extent(least / pad, most * pad, True)
    least, most = min([0.0, low, *marks]), max([0.0, high, *marks])
    pad = 0.06 * (most - least) or 1.0
    return Extent(least - pad if least < 0 else 0.0, most + pad, False)


def ticks(extent: Extent, most: int = 7) -> list[float]:
    """Round tick values inside the extent: 1, 2, 5 steps, or powers of ten when many."""
    return _log_ticks(extent, most) if extent.is_log else _linear_ticks(extent, most)


def _linear_ticks(extent: Extent, most: int) -> list[float]:
    raw = (extent.high - extent.low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * s for s in (*_STEPS, 10.0) if power * s >= raw)
    first = math.ceil(extent.low / step - 1e-9)
    last = math.floor(extent.high / step + 1e-9)
    return [_tidy(step * count) for count in range(first, last + 1)]


def _log_ticks(extent: Extent, most: int) -> list[float]:
    first, last = math.floor(math.log10(extent.low)), math.ceil(math.log10(extent.high))
    for steps in (_STEPS, (1.0, 3.0), (1.0,)):
        found = [
            _tidy(step * 10.0**power)
            for power in range(first, last + 1)
            for step in steps
            if extent.low <= step * 10.0**power <= extent.high
        ]
        if len(found) <= most:
            break
    return found[:: math.ceil(len(found) / most)] if found else []


def _tidy(value: float) -> float:
    return float(f"{value:.12g}")


def value_channel(extent: Extent, title: str, **settings: Any) -> Channel:
    """The horizontal axis of values, its kind said in the title."""
    kind = "log scale" if extent.is_log else "from zero"
    said = f"{fit_text(title, 250, 10.5)}, {kind}"
    axis = {
        "orient": "bottom",
        "title": said,
        "values": ticks(extent),
        "format": ",.12~g",
        "grid": True,
        "labelOverlap": True,
        "titleAnchor": "start",
        **settings,
    }
    return Channel(extent.scale(), axis)
