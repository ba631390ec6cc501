"""The rows of a cohort chart: rank, name, whiskers, dot, value and ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.columns import scaled, show_column, show_ratios
from kernelindex.web.charts.layers import (
    MARGIN,
    Layer,
    Row,
    dots,
    layer,
    names,
    px,
    segment,
    segments,
    text_row,
    texts,
)
from kernelindex.web.charts.scales import Extent, value_channel
from kernelindex.web.charts.text import FALLBACK, clean_text, text_width
from kernelindex.web.charts.widest import fit_widest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.numbers import Scale
    from kernelindex.web.charts.chart import Frame
    from kernelindex.web.charts.cohort import CohortEntry

RANK_ROOM = 34
NAME_ROOM = 264
VALUE_ROOM = 84
RATIO_ROOM = 54
CONTROLLED = frozenset({"verified", "replicated"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Where rows stand: labels beside the plot, or above each row on a narrow frame."""

    frame: Frame
    left: int
    right: int
    step: int
    rows: int
    left_out: int

    @classmethod
    def of(cls, frame: Frame, rows: int, left_out: int) -> Layout:
        """The layout for this many rows."""
        if frame.is_narrow:
            return cls(frame, MARGIN, MARGIN, 56, rows, left_out)
        return cls(
            frame,
            MARGIN + RANK_ROOM + NAME_ROOM + 14,
            VALUE_ROOM + RATIO_ROOM + MARGIN,
            38,
            rows,
            left_out,
        )

    @property
    def height(self) -> int:
        """Height of the plot, the line for entries that are left out included."""
        return self.rows * self.step + (24 if self.left_out else 6)

    @property
    def width(self) -> int:
        """Width of the plot."""
        return self.frame.width - self.left - self.right

    def dot_y(self, row: int) -> float:
        """Where the dot of a row stands."""
        return row * self.step + (self.step - 14 if self.frame.is_narrow else self.step / 2)

    def name_y(self, row: int) -> float:
        """Where the name of a row stands."""
        return row * self.step + (11 if self.frame.is_narrow else self.step / 2 - 7)

    def bands(self) -> list[tuple[float, float]]:
        """Top and bottom of what the band and the floor cover: all, or the dots' strips."""
        if not self.frame.is_narrow:
            return [(0, self.height)]
        return [(self.dot_y(row) - 9, self.dot_y(row) + 9) for row in range(self.rows)]

    @property
    def edge(self) -> int:
        """The left edge of the sheet's text."""
        return MARGIN - self.left

    @property
    def text_edge(self) -> int:
        """The right edge of the sheet's text."""
        return self.frame.width - self.left - MARGIN


def draw_rows(
    shown: Sequence[CohortEntry], rest: str, layout: Layout, extent: Extent, scale: Scale
) -> list[Layer]:
    """All layers of the rows, back to front; ``rest`` is said of entries that are left out."""
    found = [
        *(_tracks(layout) if layout.frame.is_narrow else _column_heads(layout, scale)),
        *_rules(layout),
        *_whiskers(shown, layout, extent, scale),
        *_dots(shown, layout, extent, scale),
        *_names(shown, layout),
        *_numbers(shown, layout, scale),
        *_brackets(shown, layout),
    ]
    if layout.left_out:
        y = layout.rows * layout.step + 12
        found.append(texts("detail", [text_row(layout.edge + RANK_ROOM, y, rest)]))
    return found


def _column_heads(layout: Layout, scale: Scale) -> list[Layer]:
    edge = layout.text_edge
    heads = [
        text_row(edge - RATIO_ROOM, -9, scale.unit or "value"),
        text_row(edge, -9, "to leader"),
    ]
    return [texts("note", heads, "right")]


def _tracks(layout: Layout) -> list[Layer]:
    """A line under each dot, where no grid runs through the names."""
    rows = [
        segment(0, layout.dot_y(row), layout.width, layout.dot_y(row)) for row in range(layout.rows)
    ]
    return [segments("track", rows)]


def _rules(layout: Layout) -> list[Layer]:
    ends = (layout.edge, layout.text_edge)
    rows = [
        segment(ends[0], row * layout.step, ends[1], row * layout.step)
        for row in range(layout.rows + 1)
    ]
    return [segments("hairline", rows)]


def _whiskers(
    shown: Sequence[CohortEntry], layout: Layout, extent: Extent, scale: Scale
) -> list[Layer]:
    x = value_channel(extent, "")
    found = []
    for style, lead in (("spread", False), ("interval", False), ("interval-lead", True)):
        rows = []
        for row, entry in enumerate(shown):
            ends = entry.spread if style == "spread" else entry.interval
            if ends and (style == "spread" or entry.leads is lead):
                low, high = (extent.clamp(end / scale.divisor) for end in ends)
                rows.append({"low": low, "high": high, "y": layout.dot_y(row)})
        if rows:
            found.append(
                layer(
                    "rule",
                    style,
                    rows,
                    x=_bare(x.of("low")),
                    x2={"field": "high"},
                    y=px("y"),
                    mark_strokeCap="butt",
                )
            )
    return found


def _bare(channel: dict[str, object]) -> dict[str, object]:
    """The same scale without saying the axis again."""
    channel.pop("axis")
    return channel


def dot_style(entry: CohortEntry) -> str:
    """Hollow without an interval, filled when verified, half where only one of the two."""
    if entry.interval is None:
        return "dot-hollow"
    return "dot-filled" if entry.level in CONTROLLED else "dot-half"


def _dots(
    shown: Sequence[CohortEntry], layout: Layout, extent: Extent, scale: Scale
) -> list[Layer]:
    x = value_channel(extent, "")
    by_style: dict[str, list[Row]] = {}
    for row, entry in enumerate(shown):
        place = {"value": entry.value / scale.divisor, "y": layout.dot_y(row)}
        end = "-lead" if entry.leads else ""
        by_style.setdefault(dot_style(entry) + end, []).append(place)
        if entry.level == "replicated":
            by_style.setdefault("ring" + end, []).append(place)
    return [dots(style, rows, _bare(x.of("value")), px("y")) for style, rows in by_style.items()]


def _names(shown: Sequence[CohortEntry], layout: Layout) -> list[Layer]:
    said: dict[str, list[Row]] = {"name": [], "name-lead": [], "detail": []}
    ranks = []
    x = layout.edge + RANK_ROOM
    room = NAME_ROOM
    if layout.frame.is_narrow:
        room = layout.width - RANK_ROOM - 104
    for row, entry in enumerate(shown):
        y = layout.name_y(row)
        name = fit_widest(entry.name, room, 12.0, bold=entry.leads)
        style = "name-lead" if entry.leads else "name"
        said[style].append(_name_row(x, y, name, entry.name))
        detail = " · ".join(part for part in (entry.level, entry.version) if part)
        said["detail"].append(_name_row(x, y + 15, fit_widest(detail, room, 10.5), detail))
        ranks.append(text_row(layout.edge, y, rank_text(entry, shown, layout.left_out)))
    found = [one for style, rows in said.items() for one in names(style, rows)]
    return [*found, texts("detail", ranks)]


def _name_row(x: float, y: float, shown: str, full: str) -> Row:
    """A row for ``names``, with the whole text where it was cut."""
    row, whole = text_row(x, y, shown), clean_text(full)
    return row if shown == whole else {**row, "full": whole}


def rank_text(entry: CohortEntry, shown: Sequence[CohortEntry], left_out: int = 0) -> str:
    """``1``, ``1=``, ``1-3``; ``only`` for an only result; a dash where it is not ranked."""
    if len(shown) + left_out == 1:
        return "only"
    if entry.rank is None:
        return "–"
    low, high = entry.rank
    if entry.tie_group is not None and sum(e.tie_group == entry.tie_group for e in shown) > 1:
        return f"{low}="
    return str(low) if low == high else f"{low}-{high}"


def _numbers(shown: Sequence[CohortEntry], layout: Layout, scale: Scale) -> list[Layer]:
    """Values aligned on the decimal, their unit, and ratios beside (or below) them."""
    narrow = layout.frame.is_narrow
    end = layout.text_edge - (0 if narrow else RATIO_ROOM)
    unit_room = text_width(f" {scale.unit}", 12.0) if narrow and scale.unit else 0.0
    said = show_column([scaled(scale, entry.value, entry.interval) for entry in shown])
    point = end - FALLBACK * (
        unit_room + max(text_width(text[len(_whole(text)) :], 12.0) for text in said)
    )
    values, units, ratios = [], [], []
    far = show_ratios([entry.ratio for entry in shown])
    for row, (text, ratio) in enumerate(zip(said, far, strict=True)):
        y = layout.name_y(row) if narrow else layout.dot_y(row)
        values.append(text_row(point - text_width(_whole(text), 12.0), y, text))
        units += [text_row(end, y, scale.unit)] if narrow else []
        ratios.append(text_row(layout.text_edge, y + (15 if narrow else 0), ratio))
    return [
        texts("name", values),
        *([texts("name", units, "right")] if units else []),
        texts("detail", ratios, "right"),
    ]


def _whole(text: str) -> str:
    """The part of a number before its decimal point."""
    return text.partition(".")[0]


def _brackets(shown: Sequence[CohortEntry], layout: Layout) -> list[Layer]:
    """One bracket over the rows of a tie."""
    groups: dict[int, list[int]] = {}
    for row, entry in enumerate(shown):
        if entry.tie_group is not None:
            groups.setdefault(entry.tie_group, []).append(row)
    rows: list[Row] = []
    x = layout.edge + RANK_ROOM - 9
    for members in groups.values():
        if len(members) > 1:
            top, bottom = members[0] * layout.step + 6, (members[-1] + 1) * layout.step - 6
            rows.append(segment(x, top, x, bottom))
            rows += [segment(x, y, x + 4, y) for y in (top, bottom)]
    return [segments("bracket", rows)] if rows else []
