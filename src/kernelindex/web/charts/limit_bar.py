"""Limit bar: the time of one run as floor, gap to what is attainable, and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.resolve.numbers import Scale, scale_for
from kernelindex.web.charts.chart import WIDE, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.layers import (
    MARGIN,
    KeyItem,
    Layer,
    Sheet,
    layer,
    px,
    text_row,
    texts,
)
from kernelindex.web.charts.scales import Extent, value_channel
from kernelindex.web.charts.text import clean_text, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

BAR = 26
LABEL = 10.5
_STYLES = {"floor": "bar-floor", "gap": "bar-gap", "rest": "bar-rest", "beyond": "bar-gap"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitInput:
    """A run's time against the floors of its device, all in ``unit``.

    ``nominal``     the least time at the peaks its maker states; None where not known
    ``attainable``  the least time at peaks measured on such a device; None likewise
    ``bound``       compute or memory
    """

    title: str
    setting: str
    source: str
    unit: str
    value: float
    nominal: float | None
    attainable: float | None
    bound: str | None = None


def limit_chart(data: LimitInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """One bar of the run's time with its nominal and attainable floor marked."""
    floors = [floor for floor in (data.nominal, data.attainable) if floor]
    if not floors or data.value <= 0:
        return NotDrawn("limit", "No limit is known for this run: no cost model or no peaks.")
    scale = scale_for([data.value], data.unit)
    most = max([data.value, *floors]) / scale.divisor
    extent = Extent(0.0, most * 1.02, False)
    width = frame.width - 2 * MARGIN - 8
    placed = _placed(data, extent, scale, width)
    sheet = Sheet(
        frame=frame,
        left=MARGIN + 4,
        right=MARGIN + 4,
        plot_height=int(_bar_top(placed)) + BAR + 10,
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=_layers(data, extent, scale, placed),
        key=_key(data),
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="limit",
        title=clean_text(data.title),
        alt=_alt(data, scale),
        source=clean_text(data.source, limit=400),
        table=_table(data),
        spec=spec,
        width=frame.width,
        height=height,
    )


def parts_of(data: LimitInput) -> tuple[tuple[str, float, float], ...]:
    """The parts of the bar as (name, from, to): never past the time of the run."""
    floor = data.nominal if data.nominal is not None else data.attainable
    first = floor or 0.0
    if first > data.value:
        return (("beyond", 0.0, data.value),)
    second = first
    if data.nominal is not None and data.attainable is not None:
        second = min(max(data.attainable, first), data.value)
    parts = (("floor", 0.0, first), ("gap", first, second), ("rest", second, data.value))
    return tuple(part for part in parts if part[2] > part[1])


def _layers(
    data: LimitInput, extent: Extent, scale: Scale, placed: Sequence[_Label]
) -> list[Layer]:
    x = value_channel(extent, f"time ({scale.unit})", grid=False)
    top = _bar_top(placed)
    tall: dict[str, Any] = {"y": px("y"), "y2": {"field": "y2"}}
    found = []
    for name, low, high in parts_of(data):
        row = {"low": low / scale.divisor, "high": high / scale.divisor, "y": top, "y2": top + BAR}
        found.append(
            layer("rect", _STYLES[name], [row], x=x.of("low"), x2={"field": "high"}, **tall)
        )
    for style, value in _marks(data):
        line = next(label.line for label in placed if label.value == value)
        row = {"floor": value / scale.divisor, "y": _line_y(top, line) - 5, "y2": top + BAR + 6}
        found.append(layer("rule", style, [row], x=x.of("floor"), **tall))
    words = [text_row(label.x, _line_y(top, label.line), label.text) for label in placed]
    return [*found, texts("mark-label", words)]


def _marks(data: LimitInput) -> list[tuple[str, float]]:
    known = (("floor-nominal", data.nominal), ("floor", data.attainable))
    return [(style, value) for style, value in known if value]


@dataclass(frozen=True, slots=True)
class _Label:
    """Words beside a mark, on a line counted upward from the bar; the mark reaches it."""

    text: str
    value: float
    mark: float
    x: float
    line: int

    @property
    def end(self) -> float:
        """Where the words end."""
        return self.x + text_width(self.text, LABEL)

    def disturbs(self, other: _Label) -> bool:
        """Whether the words of both touch, or a mark of one runs through the other's."""
        touch = self.line == other.line and self.x < other.end + 12 and other.x < self.end + 12
        return touch or self._is_crossed_by(other) or other._is_crossed_by(self)

    def _is_crossed_by(self, other: _Label) -> bool:
        return self.x - 2 < other.mark < self.end + 2 and self.line <= other.line


def _placed(data: LimitInput, extent: Extent, scale: Scale, width: float) -> list[_Label]:
    """The words beside each mark, on the lowest line where they have room."""
    found: list[_Label] = []
    for text, value in _said(data, scale):
        own = text_width(text, LABEL)
        mark = extent.position(value / scale.divisor, width)
        sides = (mark - own - 5, mark + 5)
        tried = [
            _Label(text, value, mark, x, line)
            for line in range(3)
            for x in (reversed(sides) if value == data.attainable else sides)
            if x >= -4 and x + own <= width + 4
        ]
        free = [one for one in tried if not any(one.disturbs(other) for other in found)]
        last = _Label(text, value, mark, max(0.0, min(mark, width - own)), 2)
        found.append(free[0] if free else last)
    return found


def _bar_top(placed: Sequence[_Label]) -> float:
    return 14.0 * (max(label.line for label in placed) + 1) + 8


def _line_y(top: float, line: int) -> float:
    return top - 14 - 14 * line


def _said(data: LimitInput, scale: Scale) -> list[tuple[str, float]]:
    found = [(f"run {scale.with_unit(data.value)}", data.value)]
    if data.attainable:
        found.append((f"{_percent(data.attainable, data.value)} of attainable", data.attainable))
    if data.nominal:
        found.append((f"{_percent(data.nominal, data.value)} of nominal", data.nominal))
    return found


def _percent(floor: float, value: float) -> str:
    share = 100.0 * floor / value
    return f"{share:.1f} %" if share < 10 else f"{share:.0f} %"


def _key(data: LimitInput) -> list[KeyItem]:
    bound = f", {clean_text(data.bound, limit=40)} bound" if data.bound else ""
    kind = "nominal" if data.nominal else "attainable"
    names = {
        "floor": f"{kind} floor{bound}",
        "gap": "gap to the attainable floor, at measured peaks",
        "rest": "rest of the run's time",
        "beyond": "the whole run: faster than the floor allows",
    }
    return [KeyItem("box", _STYLES[name], names[name]) for name, _, _ in parts_of(data)]


def _alt(data: LimitInput, scale: Scale) -> str:
    said = []
    if data.nominal:
        floor = scale.with_unit(data.nominal)
        said.append(f"{_percent(data.nominal, data.value)} of the nominal limit ({floor})")
    if data.attainable:
        floor = scale.with_unit(data.attainable)
        said.append(f"{_percent(data.attainable, data.value)} of the attainable one ({floor})")
    first = f"The run takes {scale.with_unit(data.value)}: {' and '.join(said)}."
    if data.nominal and data.value < data.nominal:
        return f"{first} That is faster than the nominal floor, so the run or the model is wrong."
    bound = f" The limit is {clean_text(data.bound, limit=40)}." if data.bound else ""
    missing = "" if data.attainable else " No attainable peak was measured on this device."
    return first + (missing or bound)


def _table(data: LimitInput) -> Table:
    rows = (
        ("run", data.value, 100.0),
        *(
            (name, floor, None if floor is None else 100.0 * floor / data.value)
            for name, floor in (
                ("nominal floor", data.nominal),
                ("attainable floor", data.attainable),
            )
        ),
    )
    return Table.of(("what", f"time ({data.unit})", "percent of the run's time"), rows)
