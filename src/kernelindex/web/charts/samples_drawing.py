"""The marks of a sample strip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex import stats
from kernelindex.web.charts.layers import (
    MARGIN,
    Channel,
    Layer,
    Row,
    dots,
    group,
    layer,
    px,
    segment,
    segments,
    text_row,
    texts,
)
from kernelindex.web.charts.scales import Extent, ticks
from kernelindex.web.charts.text import fit_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.numbers import Scale
    from kernelindex.web.charts.chart import Frame
    from kernelindex.web.charts.samples import Generation

HEIGHT = 180
CLOCK_GAP = 26
CLOCK_HEIGHT = 52
CLOCK_ROOM = CLOCK_GAP + CLOCK_HEIGHT
LEFT = 56
GAP = 8.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Generations side by side, each as wide as its share of the samples."""

    frame: Frame
    generations: Sequence[Generation]
    kept: Sequence[Sequence[int]]
    scale: Scale
    metric: str
    dot: str
    clock: str

    @property
    def left(self) -> int:
        """Room for the values."""
        return LEFT

    @property
    def right(self) -> int:
        """The plain margin."""
        return MARGIN

    @property
    def width(self) -> int:
        """Width of the plot."""
        return self.frame.width - self.left - self.right

    @property
    def has_clock(self) -> bool:
        """Whether any generation knows its clock."""
        return any(one.clock_mhz for one in self.generations)

    def layers(self) -> list[Layer]:
        """Separators, dots, medians, clocks and the words over them."""
        found = [group([self._dots(), self._medians()]), *self._separators()]
        if self.has_clock:
            found.append(group(self._clocks()))
        return [*found, *self._words()]

    def _strips(self) -> list[tuple[float, float]]:
        """From and to, in pixels, of each generation."""
        total = sum(len(one.values) for one in self.generations)
        room = self.width - GAP * (len(self.generations) - 1)
        found, start = [], 0.0
        for one in self.generations:
            end = start + room * len(one.values) / total
            found.append((start, end))
            start = end + GAP
        return found

    def _x(self, strip: tuple[float, float], index: int, count: int) -> float:
        """To a hundredth of a pixel; ``round`` would take half of the time of a whole chart."""
        return int((strip[0] + (strip[1] - strip[0]) * (index + 0.5) / count) * 100) / 100

    @property
    def _up(self) -> Extent:
        """Not from zero: the spread of one run is what is looked at, and it is said."""
        drawn = [
            one.values[index]
            for one, kept in zip(self.generations, self.kept, strict=True)
            for index in kept
        ]
        low, high = min(drawn) / self.scale.divisor, max(drawn) / self.scale.divisor
        pad = (high - low) * 0.06 or abs(high) * 0.02 or 1.0
        return Extent(low - pad, high + pad, False)

    @property
    def _y(self) -> Channel:
        axis = {"values": ticks(self._up, 6), "format": ",.12~g", "title": None, "grid": True}
        return Channel(self._up.scale((HEIGHT, 0)), {**axis, "domain": False, "ticks": False})

    def _dots(self) -> Layer:
        rows = [
            {
                "x": self._x(strip, index, len(one.values)),
                "y": one.values[index] / self.scale.divisor,
            }
            for one, kept, strip in zip(self.generations, self.kept, self._strips(), strict=True)
            for index in kept
        ]
        return dots("sample", rows, px("x"), self._y.of("y"))

    def _medians(self) -> Layer:
        rows = [
            {"x": strip[0], "x2": strip[1], "y": stats.median(one.values) / self.scale.divisor}
            for one, strip in zip(self.generations, self._strips(), strict=True)
        ]
        return layer("rule", "median", rows, x=px("x"), x2={"field": "x2"}, y=self._y.of("y"))

    def _separators(self) -> list[Layer]:
        bottom = HEIGHT + (CLOCK_ROOM if self.has_clock else 0)
        rows = [
            segment(start - GAP / 2, 0, start - GAP / 2, bottom) for start, _ in self._strips()[1:]
        ]
        rows.append(segment(0, bottom, self.width, bottom))
        return [segments("hairline", rows)]

    def _clocks(self) -> list[Layer]:
        clocks = [clock for one in self.generations for clock in one.clock_mhz]
        pad = (max(clocks) - min(clocks)) * 0.1 or 10.0
        extent = Extent(min(clocks) - pad, max(clocks) + pad, False)
        top = HEIGHT + CLOCK_GAP
        axis = {
            "values": ticks(extent, 3),
            "orient": "left",
            "format": ",.12~g",
            "title": None,
            "grid": True,
        }
        y = Channel(
            extent.scale((top + CLOCK_HEIGHT, top)), {**axis, "domain": False, "ticks": False}
        )
        found = []
        for one, kept, strip in zip(self.generations, self.kept, self._strips(), strict=True):
            rows = [
                {"x": self._x(strip, index, len(one.values)), "clock": one.clock_mhz[index]}
                for index in _bends(one.clock_mhz, kept)
            ]
            if rows:
                found.append(layer("line", "clock", rows, x=px("x"), y=y.of("clock")))
        return found

    def _words(self) -> list[Layer]:
        unit = f" ({self.scale.unit})" if self.scale.unit else ""
        said = f"{fit_text(self.metric, 200, 10.5)}{unit}, axis not from zero"
        heads: list[Row] = [text_row(MARGIN - LEFT, -17, said)]
        bottom = HEIGHT
        if self.has_clock:
            heads.append(text_row(MARGIN - LEFT, HEIGHT + CLOCK_GAP - 13, f"{self.clock} (MHz)"))
            bottom += CLOCK_ROOM
        names: list[Row] = []
        for number, (start, end) in enumerate(self._strips(), start=1):
            if end - start >= 16:
                long = f"generation {number}" if end - start > 76 else str(number)
                names.append(text_row((start + end) / 2, bottom + 11, long))
        order = f"{self.dot}s in time order, from left to right"
        foot = [text_row(0, bottom + 27, order)]
        return [texts("mark-label", [*heads, *foot]), texts("mark-label", names, "center")]


def _bends(values: Sequence[float], kept: Sequence[int]) -> list[int]:
    """Those of the kept places where a line through them starts, ends or may bend."""
    inside = [index for index in kept if index < len(values)]
    ends = {0, len(inside) - 1}
    return [
        index
        for place, index in enumerate(inside)
        if place in ends
        or not values[inside[place - 1]] == values[index] == values[inside[place + 1]]
    ]
