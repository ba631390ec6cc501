"""Cohort: one row an entry, dots at the medians, so that gaps are seen before digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kernelindex.resolve.numbers import Scale, ratio_text, scale_for
from kernelindex.web.charts.chart import WIDE, Cell, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.cohort_rows import Layout, draw_rows
from kernelindex.web.charts.layers import KeyItem, Layer, Sheet, layer, px
from kernelindex.web.charts.scales import Extent, value_channel, value_extent
from kernelindex.web.charts.text import clean_text
from kernelindex.web.charts.words import rest_words

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ENTRIES = 8
Level = str


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortEntry:
    """One ranked candidate; ends of ``interval`` and ``spread`` are in the value's unit."""

    name: str
    version: str
    value: float
    level: Level
    rank: tuple[int, int] | None = None
    tie_group: int | None = None
    ratio: float | None = None
    told_apart: bool = True
    interval: tuple[float, float] | None = None
    spread: tuple[float, float] | None = None
    spread_kind: str = ""

    @property
    def leads(self) -> bool:
        """Whether nothing else is surely better."""
        return self.rank is not None and self.rank[0] == 1


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time the device allows: at measured peaks, or at nominal ones."""

    value: float
    kind: Literal["attainable", "nominal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortInput:
    """A cohort in rank order; ``left_out`` further entries come after the given ones.

    ``unbeaten``   how many of all entries nothing surely beats; None counts those shown
    ``tolerance``  relative size below which reported numbers say nothing, where known
    """

    title: str
    setting: str
    source: str
    metric: str
    statistic: str
    unit: str
    direction: str | None
    entries: tuple[CohortEntry, ...]
    left_out: int = 0
    unbeaten: int | None = None
    floor: Floor | None = None
    tolerance: float | None = None


def cohort_chart(data: CohortInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """The dot plot of at most eight entries; the rest are counted."""
    if not data.entries:
        return NotDrawn("cohort", "No entry counts here, so there is nothing to draw.")
    shown = data.entries[:MAX_ENTRIES]
    left_out = data.left_out + len(data.entries) - len(shown)
    scale = scale_for([entry.value for entry in shown], data.unit)
    extent = _extent(data, shown, scale)
    band = _band(data, shown)
    layout = Layout.of(frame, len(shown), left_out)
    rest = rest_words(left_out, _unbeaten(data, shown) - sum(entry.leads for entry in shown))
    layers = [
        *_ground(data, band, extent, scale, layout),
        *draw_rows(shown, rest, layout, extent, scale),
    ]
    sheet = Sheet(
        frame=frame,
        left=layout.left,
        right=layout.right,
        plot_height=layout.height,
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=layers,
        key=_key(data, shown, band),
        head_room=12 if frame.is_narrow else 26,
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="cohort",
        title=clean_text(data.title),
        alt=_alt(data, shown, left_out, scale),
        source=clean_text(data.source, limit=400),
        table=_table(data),
        spec=spec,
        width=frame.width,
        height=height,
    )


def _unbeaten(data: CohortInput, shown: Sequence[CohortEntry]) -> int:
    """How many entries nothing surely beats, those that are not shown among them."""
    return max(data.unbeaten or 0, sum(entry.leads for entry in shown))


def _extent(data: CohortInput, shown: Sequence[CohortEntry], scale: Scale) -> Extent:
    """Medians choose the kind of axis; whiskers and the floor only widen it."""
    marks = [end for entry in shown for end in (*(entry.interval or ()), *(entry.spread or ()))]
    if data.floor:
        marks.append(data.floor.value)
    return value_extent(
        [entry.value / scale.divisor for entry in shown], [mark / scale.divisor for mark in marks]
    )


def _band(data: CohortInput, shown: Sequence[CohortEntry]) -> tuple[float, float] | None:
    """From the leader to the furthest value that may not be told from it."""
    if len(shown) < 2:
        return None
    leader = shown[0].value
    near = [entry for entry in shown if not entry.told_apart or entry.leads]
    reach = [leader, *(entry.value for entry in near)]
    if data.tolerance:
        way = 1 + data.tolerance
        reach.append(leader / way if data.direction == "higher" else leader * way)
    ends = [end for entry in near for end in (entry.interval or ())]
    others = [entry.value for entry in shown if entry not in near]
    if len(near) > 1 and not any(min(ends, default=0) <= o <= max(ends, default=0) for o in others):
        reach += ends
    low, high = min(reach), max(reach)
    return (low, high) if high > low else None


def _ground(
    data: CohortInput,
    band: tuple[float, float] | None,
    extent: Extent,
    scale: Scale,
    layout: Layout,
) -> list[Layer]:
    """The axis, the grey band and the floor, under the rows."""
    unit = f" ({scale.unit})" if scale.unit else ""
    title = f"{data.metric}, {data.statistic}{unit}"
    x = value_channel(extent, title, grid=not layout.frame.is_narrow)
    heights = [{"y": top, "y2": bottom} for top, bottom in layout.bands()]
    found = []
    ends = [extent.clamp(end / scale.divisor) for end in band] if band else None
    rows = [{**one, "low": ends[0], "high": ends[1]} for one in heights] if ends else []
    tall = {"y": px("y"), "y2": {"field": "y2"}}
    found.append(layer("rect", "band", rows, x=x.of("low"), x2={"field": "high"}, **tall))
    floor = data.floor.value / scale.divisor if data.floor else None
    if data.floor and floor is not None and extent.low <= floor <= extent.high:
        rows = [{**one, "floor": floor} for one in heights]
        found.append(layer("rule", _floor_style(data.floor), rows, x=x.of("floor"), **tall))
    return found


def _floor_style(floor: Floor) -> str:
    return "floor" if floor.kind == "attainable" else "floor-nominal"


def _key(
    data: CohortInput,
    shown: Sequence[CohortEntry],
    band: tuple[float, float] | None,
) -> list[KeyItem]:
    """Only the signs that are on this drawing."""
    found = []
    if any(entry.interval is None for entry in shown):
        found.append(KeyItem("circle", "dot-hollow", "no interval"))
    if any(entry.interval and entry.level not in _CONTROLLED for entry in shown):
        found.append(KeyItem("circle", "dot-half", "interval, not verified"))
    if any(entry.interval and entry.level in _CONTROLLED for entry in shown):
        found.append(KeyItem("circle", "dot-filled", "verified"))
    if any(entry.level == "replicated" for entry in shown):
        found.append(KeyItem("circle", "ring", "replicated"))
    if any(entry.interval for entry in shown):
        found.append(KeyItem("line", "interval", "95 % interval"))
    kinds = sorted({entry.spread_kind for entry in shown if entry.spread})
    if kinds:
        found.append(KeyItem("line", "spread", f"{' or '.join(kinds)}, as published"))
    if band:
        found.append(KeyItem("box", "band", "not distinguishable from the leader"))
    if data.floor:
        found.append(KeyItem("line", _floor_style(data.floor), f"{data.floor.kind} floor"))
    return found


_CONTROLLED = frozenset({"verified", "replicated"})


def _alt(data: CohortInput, shown: Sequence[CohortEntry], left_out: int, scale: Scale) -> str:
    """Who stands where, and how far the numbers may be trusted."""
    first = shown[0]
    value = scale.with_unit(first.value)
    name = clean_text(first.name, limit=80)
    count = len(shown) + left_out
    if count == 1:
        lead = f"Only one result: {name}, {value}."
    elif (several := _unbeaten(data, shown)) > 1:
        many = f"All {count}" if several == count else f"{several} of {count}"
        lead = f"{many} entries are not told apart; the smallest value is {value}."
        if data.direction == "higher":
            lead = lead.replace("smallest", "largest")
    else:
        lead = f"{name} leads {count} entries at {value}{_behind(shown)}."
    return f"{lead} {_trust(shown)}"


def _behind(shown: Sequence[CohortEntry]) -> str:
    last = shown[-1]
    if last.ratio is None or last.ratio <= 0:
        return ""
    ratio = last.ratio if last.ratio >= 1 else 1 / last.ratio
    who = "the next" if len(shown) == 2 else "the last one shown"
    return f"; {who}, {clean_text(last.name, limit=80)}, is {ratio_text(ratio)} behind"


def _trust(shown: Sequence[CohortEntry]) -> str:
    bare = sum(entry.interval is None for entry in shown)
    if bare == len(shown):
        return "No value has an interval." if bare > 1 else "It has no interval."
    if bare:
        return f"{bare} of the {len(shown)} shown have no interval."
    return "Every value has a 95 % interval."


def _table(data: CohortInput) -> Table:
    unit = data.unit
    columns = (
        "entry",
        "version",
        "rank low",
        "rank high",
        f"{data.statistic} ({unit})",
        f"interval low ({unit})",
        f"interval high ({unit})",
        f"spread low ({unit})",
        f"spread high ({unit})",
        "spread kind",
        "ratio to leader",
        "level",
    )
    return Table.of(columns, map(_table_row, data.entries[:MAX_ENTRIES]))


def _table_row(entry: CohortEntry) -> tuple[Cell, ...]:
    return (
        clean_text(entry.name),
        clean_text(entry.version),
        *(entry.rank or (None, None)),
        entry.value,
        *(entry.interval or (None, None)),
        *(entry.spread or (None, None)),
        entry.spread_kind or None,
        entry.ratio,
        entry.level,
    )
