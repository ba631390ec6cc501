"""The marks of a record staircase."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from kernelindex.web.charts.layers import (
    MARGIN,
    Channel,
    Layer,
    Row,
    dots,
    layer,
    px,
    segment,
    segments,
    text_row,
    texts,
)
from kernelindex.web.charts.scales import Extent, ticks, value_extent
from kernelindex.web.charts.text import fit_text, text_width
from kernelindex.web.charts.widest import fit_widest, widest_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.numbers import Scale
    from kernelindex.web.charts.chart import Frame

HEIGHT = 220
HEIGHT_OF_ONE = 104
LEFT = 56
AXIS_ROOM = 36
LIST_LINE = 17
MAX_LISTED = 8
_LEVELS = ("reported", "reproducible", "verified", "replicated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One leader's time at the top."""

    start: date
    end: date
    is_open: bool
    name: str
    value: float
    level: str
    struck: bool

    @property
    def drawn_level(self) -> str:
        """The level whose line is drawn: the least one where it is not known."""
        return self.level if self.level in _LEVELS else "reported"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Spans on a frame; dates are drawn as days from the first."""

    frame: Frame
    spans: Sequence[Span]
    scale: Scale
    metric: str

    @property
    def left(self) -> int:
        """Room for the values."""
        return LEFT

    @property
    def right(self) -> int:
        """Room past the last day."""
        return MARGIN + 10

    @property
    def width(self) -> int:
        """Width of the plot."""
        return self.frame.width - self.left - self.right

    @property
    def height(self) -> int:
        """Height of the plot; one step needs less."""
        return HEIGHT if len(self.spans) > 1 else HEIGHT_OF_ONE

    def layers(self) -> list[Layer]:
        """Drops, steps, dots, strikes, numbers and the list of names."""
        found: list[Layer] = [self._axes(), self._heading()]
        drops = self._drops()
        if drops:
            found.append(segments("drop", drops))
        for level in _LEVELS:
            rows = [self._bar(span) for span in self.spans if span.drawn_level == level]
            if rows:
                found.append(segments(f"step-{level}", rows))
        return [*found, *self._dots(), *self._strikes(), *self._numbers(), *self._list()]

    @property
    def _days(self) -> Extent:
        first, last = self.spans[0].start, max(span.end for span in self.spans)
        days = max((last - first).days, 6)
        return Extent(-0.04 * days, days * 1.04, False)

    @property
    def _up(self) -> Extent:
        return value_extent([span.value / self.scale.divisor for span in self.spans])

    def _x(self, day: date) -> float:
        return self._days.position((day - self.spans[0].start).days, self.width)

    def _y(self, value: float) -> float:
        return self.height - self._up.position(value / self.scale.divisor, self.height)

    def _bar(self, span: Span) -> Row:
        """A step is never shorter than its dot; an open one runs to the edge."""
        x, y = self._x(span.start), self._y(span.value)
        end = self.width if span.is_open else self._x(span.end)
        return segment(x, y, max(end, x + 6), y)

    def _drops(self) -> list[Row]:
        """The upright from one step to the next, where one follows the other at once."""
        return [
            segment(
                self._x(after.start),
                self._y(before.value),
                self._x(after.start),
                self._y(after.value),
            )
            for before, after in zip(self.spans, self.spans[1:], strict=False)
            if before.end == after.start
        ]

    def _dots(self) -> list[Layer]:
        by_style: dict[str, list[Row]] = {}
        for span in self.spans:
            filled = span.level in {"verified", "replicated"}
            style = "dot-filled" if filled else "dot-hollow"
            lead = "-lead" if span.is_open else ""
            row = {"x": self._x(span.start), "y": self._y(span.value)}
            by_style.setdefault(style + lead, []).append(row)
            if span.level == "replicated":
                by_style.setdefault(f"ring{lead}", []).append(row)
        return [dots(style, rows, px("x"), px("y")) for style, rows in by_style.items()]

    def _strikes(self) -> list[Layer]:
        """A stroke through the dot of a retracted record."""
        rows = []
        for span in self.spans:
            if span.struck:
                x, y = self._x(span.start), self._y(span.value)
                rows += [segment(x - 7, y + 7, x + 7, y - 7)]
        return [segments("strike", rows)] if rows else []

    def _numbers(self) -> list[Layer]:
        """The number of each step by its dot, as the list below counts them."""
        rows = [
            text_row(self._x(span.start) + 6, self._y(span.value) - 11, str(number))
            for number, span in enumerate(self.spans, start=1)
        ]
        return [texts("mark-label", rows)]

    def _list(self) -> list[Layer]:
        """The newest steps in words under the axis; a retracted one has a line through."""
        edge, end = MARGIN - LEFT, self.frame.width - LEFT - MARGIN
        rows: dict[str, list[Row]] = {"label": [], "label-lead": [], "note": []}
        values: list[Row] = []
        strikes: list[Row] = []
        names_at = edge + (26 if self.frame.is_narrow else 96)
        for place, (number, span) in enumerate(self.listed):
            y = self.height + AXIS_ROOM + LIST_LINE * place + 6
            value = self.scale.with_unit(span.value)
            room = end - names_at - widest_width(value, 11.0) - 18
            name = fit_widest(f"{span.name}{self._ending(span)}", room, 11.0, bold=span.is_open)
            date_said = "" if self.frame.is_narrow else span.start.isoformat()
            rows["note"] += [text_row(edge, y, str(number)), text_row(edge + 26, y, date_said)]
            rows["label-lead" if span.is_open else "label"].append(text_row(names_at, y, name))
            values.append(text_row(end, y, value))
            if span.struck:
                name_end = names_at + text_width(name, 11.0, bold=span.is_open)
                strikes.append(segment(names_at - 2, y, name_end + 2, y))
                strikes.append(segment(end - text_width(value, 11.0) - 2, y, end + 2, y))
        found = [texts(style, said) for style, said in rows.items() if said]
        found.append(texts("label", values, "right"))
        return [*found, segments("strike", strikes)] if strikes else found

    def _ending(self, span: Span) -> str:
        return ", retracted" if span.struck else ""

    @property
    def listed(self) -> list[tuple[int, Span]]:
        """The steps that the list names, newest first."""
        return list(enumerate(self.spans, start=1))[: -MAX_LISTED - 1 : -1]

    @property
    def axis_room(self) -> int:
        """Height of the axis and of the list."""
        return AXIS_ROOM + LIST_LINE * len(self.listed) + 8

    def _axes(self) -> Layer:
        """Values at the left and the first day of months or years below."""
        extent = self._up
        y = Channel(
            extent.scale(),
            {
                "values": ticks(extent, 6 if len(self.spans) > 1 else 3),
                "format": ",.12~g",
                "title": None,
                "grid": True,
                "domain": False,
                "ticks": False,
            },
        )
        marks = _day_ticks(
            self.spans[0].start, max(span.end for span in self.spans), self._days, self.width
        )
        names = dict(marks)
        label = " : ".join(f"datum.value === {offset} ? '{said}'" for offset, said in names.items())
        x = Channel(
            self._days.scale(),
            {"values": list(names), "labelExpr": f"{label} : ''", "title": None, "grid": False},
        )
        return layer("rule", "hairline", [], x=x.of("day"), y=y.of("value"))

    def _heading(self) -> Layer:
        kind = "log scale" if self._up.is_log else "from zero"
        unit = f" ({self.scale.unit})" if self.scale.unit else ""
        said = f"{fit_text(self.metric, 240, 10.5)} of the leader{unit}, {kind}"
        return texts("mark-label", [text_row(MARGIN - LEFT, -17, said)])


def _day_ticks(first: date, last: date, days: Extent, width: int) -> list[tuple[int, str]]:
    """Round dates as (days from the first, words): days, months, quarters or years."""
    low = first + timedelta(days=math.ceil(days.low))
    high = first + timedelta(days=math.floor(days.high))
    most = max(2, width // 86)
    for step in (1, 2, 3, 6, 12, 24, 60, 120):
        found = _months(low, high, step)
        if 2 <= len(found) <= most:
            return [((day - first).days, _month_words(day, step)) for day in found]
    ends = dict.fromkeys((first, last))
    return [((day - first).days, day.isoformat()) for day in ends]


def _months(low: date, high: date, step: int) -> list[date]:
    months = [
        (index // 12, index % 12 + 1)
        for index in range(low.year * 12, high.year * 12 + 12)
        if index % step == 0
    ]
    return [day for year, month in months if low <= (day := date(year, month, 1)) <= high]


def _month_words(day: date, step: int) -> str:
    return str(day.year) if step >= 12 else day.strftime("%Y-%m")
