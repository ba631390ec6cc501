"""The marks of a sweep: one shape a line, named beside its last point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.web.charts.labels import spread_labels
from kernelindex.web.charts.layers import (
    MARGIN,
    Channel,
    KeyItem,
    Layer,
    Row,
    dots,
    layer,
    px,
    text_row,
    texts,
)
from kernelindex.web.charts.scales import LOG_BEYOND, Extent, ticks
from kernelindex.web.charts.sweep_points import Crossover, runs_of
from kernelindex.web.charts.text import fit_text, narrowest_room, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.web.charts.chart import Frame
    from kernelindex.web.charts.sweep import SweepLine

HEIGHT = 230
LEFT = 52
LABEL_ROOM = 216
LABEL_GAP = 29
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


@dataclass(frozen=True, slots=True)
class Drawing:
    """Lines of a sweep on a frame; ``shown`` are indices, the most often best first."""

    axis: str
    frame: Frame
    lines: Sequence[SweepLine]
    sizes: Sequence[int]
    ratios: Sequence[dict[int, float]]
    shown: Sequence[int]

    @property
    def left(self) -> int:
        """Room for the ratios."""
        return LEFT

    @property
    def right(self) -> int:
        """Room for the names, where they stand beside the plot."""
        return MARGIN + 6 if self.frame.is_narrow else LABEL_ROOM + MARGIN

    @property
    def width(self) -> int:
        """Width of the plot."""
        return self.frame.width - self.left - self.right

    def layers(self, crossings: Sequence[Crossover]) -> list[Layer]:
        """Changes of lead at the back, then lines, points and names."""
        found = self._changes(crossings)
        for place in reversed(range(len(self.shown))):
            found += self._line(place)
        names = [] if self.frame.is_narrow else self._names()
        return [*found, *names, self._heading()]

    def names_as_key(self) -> list[KeyItem]:
        """The names in the key, where there is no room beside the plot."""
        if not self.frame.is_narrow:
            return []
        return [
            KeyItem(SHAPES[place], f"dot-hollow{_end(place)}", self._said(index))
            for place, index in enumerate(self.shown)
        ]

    @property
    def _across(self) -> Extent:
        pad = (self.sizes[-1] / self.sizes[0]) ** 0.05
        return Extent(self.sizes[0] / pad, self.sizes[-1] * pad, True)

    @property
    def _up(self) -> Extent:
        worst = max(max(self.ratios[index].values()) for index in self.shown)
        if worst > LOG_BEYOND:
            return Extent(0.93, worst * 1.15, True)
        span = max(worst - 1.0, 0.1)
        return Extent(1.0 - 0.06 * span, 1.0 + span * 1.08, False)

    @property
    def _x(self) -> Channel:
        axis = {
            "values": _thinned(self.sizes, self._across, self.width),
            "format": ",d",
            "title": f"{fit_text(self.axis, 200, 10.5)}, log2 scale",
            "titleAnchor": "start",
            "labelOverlap": False,
            "grid": False,
        }
        return Channel({**self._across.scale(), "base": 2}, axis)

    @property
    def _y(self) -> Channel:
        values = sorted({1.0, *(tick for tick in ticks(self._up, 6) if tick >= 1.0)})
        axis = {"values": values, "title": None, "grid": True, "domain": False, "ticks": False}
        return Channel(self._up.scale(), {**axis, "labelExpr": "format(datum.value, '~g') + 'x'"})

    def _heading(self) -> Layer:
        kind = ", log scale" if self._up.is_log else ""
        said = f"times the best at each size (1x is the best){kind}"
        return texts("mark-label", [text_row(MARGIN - LEFT, -17, said)])

    def _line(self, place: int) -> list[Layer]:
        index = self.shown[place]
        ratios, end = self.ratios[index], _end(place)
        x, y = self._x.of("x"), self._y.of("y")
        found = []
        for run in runs_of(sorted(ratios), self.sizes):
            if len(run) > 1:
                rows = [{"x": size, "y": ratios[size]} for size in run]
                found.append(layer("line", f"series{end}", rows, x=x, y=y))
        verified = {point.size for point in self.lines[index].points if point.verified}
        for style, wanted in (("dot-hollow", False), ("dot-filled", True)):
            rows = [
                {"x": size, "y": ratio}
                for size, ratio in sorted(ratios.items())
                if (size in verified) is wanted
            ]
            if rows:
                found.append(dots(style + end, rows, x, y, SHAPES[place]))
        return found

    def _names(self) -> list[Layer]:
        """Each name beside its last point, project and path on two lines."""
        wanted = [
            HEIGHT - self._up.position(self.ratios[index][max(self.ratios[index])], HEIGHT)
            for index in self.shown
        ]
        places = spread_labels(wanted, LABEL_GAP, 8, HEIGHT - 8)
        found: list[Layer] = []
        for place, (index, y) in enumerate(zip(self.shown, places, strict=True)):
            end = _end(place)
            first, _, second = self._said(index).partition(" · ")
            room, x = narrowest_room(LABEL_ROOM - 20, bold=not place), self.width + 26.0
            shift = 7 if second else 0
            rows: list[Row] = [text_row(x, y - shift, fit_text(first, room, 11.0, bold=not place))]
            found.append(
                dots(
                    f"dot-hollow{end}",
                    [{"x": x - 12, "y": y - shift}],
                    px("x"),
                    px("y"),
                    SHAPES[place],
                )
            )
            found.append(texts(f"label{end}", rows))
            if second:
                found.append(texts("detail", [text_row(x, y + 6, fit_text(second, room, 10.5))]))
        return found

    def _said(self, index: int) -> str:
        """The name, and the size it ends at where that is not the last."""
        last = max(self.ratios[index])
        name = self.lines[index].name
        return name if last == self.sizes[-1] else f"{name} (to {last:,})"

    def _changes(self, crossings: Sequence[Crossover]) -> list[Layer]:
        """A band from the last size of one clear lead to the first of the next."""
        rows = [
            {"low": crossing.low, "high": crossing.high, "y": 0, "y2": HEIGHT}
            for crossing in crossings
        ]
        x, high = self._x.of("low"), {"field": "high"}
        return [layer("rect", "change", rows, x=x, x2=high, y=px("y"), y2={"field": "y2"})]


def _end(place: int) -> str:
    """The line that leads most often has the accent."""
    return "" if place else "-lead"


def _thinned(sizes: Sequence[int], extent: Extent, width: int) -> list[int]:
    """Measured sizes whose labels have room, the first and the last before others."""
    halves = [text_width(f"{size:,}", 10.5) / 2 for size in sizes]
    places = [extent.position(size, width) for size in sizes]
    shown, edge = [sizes[0]], places[0] + halves[0]
    last_left = places[-1] - halves[-1] - 8
    for size, place, half in zip(sizes[1:-1], places[1:-1], halves[1:-1], strict=True):
        if place - half > edge + 8 and place + half < last_left:
            shown.append(size)
            edge = place + half
    return [*shown, sizes[-1]]
