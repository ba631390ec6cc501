"""A small vocabulary over Vega-Lite: layers in data or pixel coordinates on one sheet.

Positions called ``px`` are pixels from the upper left corner of the plot. Text from data
only ever stands in data values, never in an expression, a link or a mark property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.web.charts.text import FALLBACK, fit_text, narrowest_room, text_width, wrap_text

if TYPE_CHECKING:
    from kernelindex.web.charts.chart import Frame

Layer = dict[str, Any]
Row = Mapping[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
MARGIN = 14
TITLE_LINE = 20
TEXT_LINE = 15
KEY_LINE = 19
TITLE_SIZE = 15.0
NOTE_SIZE = 10.5


@dataclass(frozen=True, slots=True)
class Channel:
    """A data axis shared by layers: its scale and how it is shown."""

    scale: Mapping[str, Any]
    axis: Mapping[str, Any] | None

    def of(self, field: str) -> dict[str, Any]:
        """The encoding of ``field`` on this axis."""
        return {
            "field": field,
            "type": "quantitative",
            "scale": dict(self.scale),
            "axis": None if self.axis is None else dict(self.axis),
        }


def px(field: str) -> dict[str, Any]:
    """The encoding of a field that already is in pixels."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def at(pixels: float) -> dict[str, Any]:
    """The encoding of one fixed pixel position."""
    return {"value": pixels}


def layer(mark: str, style: str, rows: Sequence[Row], **channels: Any) -> Layer:
    """One mark for each row; keyword ``mark_`` settings go to the mark, the rest encodes."""
    settings = {name[5:]: value for name, value in channels.items() if name.startswith("mark_")}
    encoding = {name: value for name, value in channels.items() if not name.startswith("mark_")}
    return {
        "data": {"values": [dict(row) for row in rows]},
        "mark": {"type": mark, "style": style, **settings},
        "encoding": encoding,
    }


def dots(style: str, rows: Sequence[Row], x: Any, y: Any, shape: str = "circle") -> Layer:
    """Signs of one shape, filled or hollow as the style says."""
    return layer("point", style, rows, x=x, y=y, mark_filled=True, mark_shape=shape)


def text_row(x: float, y: float, text: str) -> Row:
    """A row for ``texts``."""
    return {"x": round(x, 2), "y": round(y, 2), "text": text}


def texts(style: str, rows: Sequence[Row], align: str = "left", **more: Any) -> Layer:
    """Texts at pixel positions, centred on their line."""
    return layer(
        "text",
        style,
        rows,
        x=px("x"),
        y=px("y"),
        text={"field": "text", "type": "nominal"},
        mark_align=align,
        mark_baseline="middle",
        **more,
    )


def names(style: str, rows: Sequence[Row]) -> list[Layer]:
    """Texts that may be cut; those with a ``full`` text beside it get it as their title."""
    whole = [row for row in rows if "full" not in row]
    cut = [row for row in rows if "full" in row]
    found = [texts(style, whole)] if whole else []
    if cut:
        full = {"field": "full", "type": "nominal"}
        found.append(texts(style, cut, description=full, mark_aria=True))
    return found


def segments(style: str, rows: Sequence[Row], **more: Any) -> Layer:
    """Straight lines from (x, y) to (x2, y2) in pixels."""
    return layer(
        "rule", style, rows, x=px("x"), y=px("y"), x2={"field": "x2"}, y2={"field": "y2"}, **more
    )


def segment(x: float, y: float, x2: float, y2: float) -> Row:
    """A row for ``segments``."""
    return {"x": round(x, 2), "y": round(y, 2), "x2": round(x2, 2), "y2": round(y2, 2)}


def boxes(style: str, rows: Sequence[Row]) -> Layer:
    """Rectangles between two corners in pixels."""
    return layer("rect", style, rows, x=px("x"), y=px("y"), x2={"field": "x2"}, y2={"field": "y2"})


def group(layers: Sequence[Layer]) -> Layer:
    """Layers that share a vertical axis of their own."""
    return {"layer": list(layers)}


@dataclass(frozen=True, slots=True)
class KeyItem:
    """One sign of the key: ``sign`` is ``line``, ``box`` or the shape of a dot."""

    sign: str
    style: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A drawing and the words around it; ``left`` and ``right`` are the plot's margins."""

    frame: Frame
    left: int
    right: int
    plot_height: int
    title: str
    subtitle: str
    note: str
    layers: Sequence[Layer]
    key: Sequence[KeyItem] = ()
    axis_room: int = 38
    head_room: int = 12

    @property
    def plot_width(self) -> int:
        """Width of the plot itself."""
        return self.frame.width - self.left - self.right

    def to_spec(self) -> tuple[dict[str, Any], int]:
        """The specification without colours, and its height in pixels."""
        room = self.frame.width - 2 * MARGIN
        heads, top = _heads(self, room)
        keys, key_height = _key(self, room)
        notes, note_height = _notes(self, room, self.plot_height + self.axis_room + key_height)
        bottom = self.axis_room + key_height + note_height + 8
        height = top + self.plot_height + bottom
        spec = {
            "$schema": SCHEMA,
            "autosize": {"type": "none"},
            "padding": {"left": self.left, "right": self.right, "top": top, "bottom": bottom},
            "width": self.plot_width,
            "height": self.plot_height,
            "layer": [*heads, *self.layers, *keys, *notes],
        }
        if any("layer" in one for one in self.layers):
            spec["resolve"] = {"scale": {"y": "independent"}}
        return spec, height


def _heads(sheet: Sheet, room: int) -> tuple[list[Layer], int]:
    narrow = sheet.frame.is_narrow
    short = narrowest_room(room, bold=True)
    title = wrap_text(sheet.title, short, TITLE_SIZE, 3 if narrow else 2, bold=True)
    said = wrap_text(sheet.subtitle, narrowest_room(room), 12.0, 6 if narrow else 3)
    subtitle = said if sheet.subtitle else ()
    top = MARGIN + len(title) * TITLE_LINE + len(subtitle) * TEXT_LINE + sheet.head_room
    x = MARGIN - sheet.left
    first = MARGIN + TITLE_LINE / 2 - top
    second = MARGIN + len(title) * TITLE_LINE + TEXT_LINE / 2 - top
    found = [_lines("title", x, first, TITLE_LINE, title)]
    if subtitle:
        found.append(_lines("subtitle", x, second, TEXT_LINE, subtitle))
    return found, top


def _notes(sheet: Sheet, room: int, start: int) -> tuple[list[Layer], int]:
    if not sheet.note:
        return [], 0
    lines = 5 if sheet.frame.is_narrow else 3
    found = wrap_text(sheet.note, narrowest_room(room), NOTE_SIZE, lines)
    x = MARGIN - sheet.left
    return [_lines("note", x, start + TEXT_LINE / 2 + 2, 14, found)], 14 * len(found) + 6


def _lines(style: str, x: float, y: float, step: float, found: Sequence[str]) -> Layer:
    return texts(style, [text_row(x, y + step * i, line) for i, line in enumerate(found)])


def _key(sheet: Sheet, room: int) -> tuple[list[Layer], int]:
    """The key in rows under the axis, each sign before its words."""
    if not sheet.key:
        return [], 0
    x0, y0 = MARGIN - sheet.left, sheet.plot_height + sheet.axis_room + KEY_LINE / 2
    found: list[Layer] = []
    words: list[Row] = []
    x, line = 0.0, 0
    for item in sheet.key:
        text = fit_text(item.text, narrowest_room(room - 26), NOTE_SIZE)
        width = 24 + text_width(text, NOTE_SIZE) * FALLBACK
        if x and x + width > room:
            x, line = 0.0, line + 1
        y = y0 + line * KEY_LINE
        found.append(_sign(item, x0 + x, y))
        words.append(text_row(x0 + x + 22, y, text))
        x += width + 14
    return [*found, texts("note", words)], (line + 1) * KEY_LINE


def _sign(item: KeyItem, x: float, y: float) -> Layer:
    if item.sign == "line":
        return segments(item.style, [segment(x, y, x + 16, y)])
    if item.sign == "box":
        return boxes(item.style, [segment(x, y - 5, x + 16, y + 5)])
    return dots(item.style, [{"x": x + 8, "y": y}], px("x"), px("y"), item.sign)
