"""Roofline: achieved rate over arithmetic intensity, under nominal and attainable roofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import significant
from kernelindex.web.charts.chart import WIDE, Cell, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.labels import spread_labels
from kernelindex.web.charts.layers import (
    MARGIN,
    NOTE_SIZE,
    Channel,
    KeyItem,
    Layer,
    Row,
    Sheet,
    dots,
    layer,
    segment,
    segments,
    text_row,
    texts,
)
from kernelindex.web.charts.scales import Extent, ticks
from kernelindex.web.charts.text import clean_text, fit_text, narrowest_room

if TYPE_CHECKING:
    from collections.abc import Sequence

HEIGHT = 250
LEFT = 60
LABEL_ROOM = 204
GROUP_GAP = 29
MAX_POINTS = 24
MAX_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """The peaks of one device for one dtype: TFLOP/s and TB/s; attainable where measured."""

    nominal_tflops: float
    nominal_tbps: float
    attainable_tflops: float | None = None
    attainable_tbps: float | None = None

    @property
    def nominal(self) -> tuple[float, float]:
        """TFLOP/s and TB/s that the maker states."""
        return (self.nominal_tflops, self.nominal_tbps)

    @property
    def attainable(self) -> tuple[float, float] | None:
        """TFLOP/s and TB/s as measured, where both were."""
        if self.attainable_tflops is None or self.attainable_tbps is None:
            return None
        return (self.attainable_tflops, self.attainable_tbps)


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflinePoint:
    """One entry: achieved TFLOP/s at FLOPs a byte of compulsory traffic.

    ``group`` tells its group from the others that are drawn; empty where there is one.
    """

    name: str
    intensity: float
    tflops: float
    verified: bool = False
    group: str = ""

    @property
    def words(self) -> str:
        """Name and group on one line."""
        return f"{self.name} {self.group}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineInput:
    """Entries of one operation on one device; ``peak`` names the roof (``bf16 dense``).

    ``partial`` where groups are left out, so that nothing is said of the whole operation.
    """

    title: str
    setting: str
    source: str
    peak: str
    roof: Roof
    points: tuple[RooflinePoint, ...]
    partial: bool = False


def roofline_chart(data: RooflineInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """At most 24 entries under their device's roof, the fastest eight named."""
    usable = [one for one in data.points if one.intensity > 0 and one.tflops > 0]
    if not usable or min(data.roof.nominal) <= 0:
        return NotDrawn("roofline", "No entry here has a cost model and a device with peaks.")
    points = sorted(usable, key=lambda one: -one.tflops)[:MAX_POINTS]
    drawing = _Drawing(data, frame, points)
    sheet = Sheet(
        frame=frame,
        left=LEFT,
        right=drawing.right,
        plot_height=HEIGHT,
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=drawing.layers(),
        key=[*_key(data, points, len(usable)), *drawing.names_as_key()],
        head_room=30,
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="roofline",
        title=clean_text(data.title),
        alt=_alt(data, points),
        source=clean_text(data.source, limit=400),
        table=_table(data),
        spec=spec,
        width=frame.width,
        height=height,
    )


def roof_at(peaks: tuple[float, float], intensity: float) -> float:
    """The most TFLOP/s at this intensity: min(compute peak, bandwidth x intensity)."""
    return min(peaks[0], peaks[1] * intensity)


@dataclass(frozen=True, slots=True)
class _Drawing:
    data: RooflineInput
    frame: Frame
    points: Sequence[RooflinePoint]

    @property
    def right(self) -> int:
        return MARGIN + 8 if self.frame.is_narrow else LABEL_ROOM + MARGIN

    @property
    def width(self) -> int:
        return self.frame.width - LEFT - self.right

    def layers(self) -> list[Layer]:
        found = [self._roof("curve", self.data.roof.nominal)]
        if self.data.roof.attainable:
            found.append(self._roof("curve-attainable", self.data.roof.attainable))
        for style, wanted in (("dot-hollow", False), ("dot-filled", True)):
            for end, some in (("", self.points[1:]), ("-lead", self.points[:1])):
                rows = [{"x": p.intensity, "y": p.tflops} for p in some if p.verified is wanted]
                if rows:
                    found.append(dots(style + end, rows, self._x.of("x"), self._y.of("y")))
        return [*found, *self._names(), self._heading()]

    def names_as_key(self) -> list[KeyItem]:
        if not self.frame.is_narrow:
            return []
        return [KeyItem("circle", "dot-hollow-lead", f"fastest: {self.points[0].words}")]

    @property
    def _across(self) -> Extent:
        """Wide enough for all points and for the ridge between memory and compute."""
        ridge = self.data.roof.nominal_tflops / self.data.roof.nominal_tbps
        places = [ridge, *(point.intensity for point in self.points)]
        return Extent(min(places) / 4, max(places) * 4, True)

    @property
    def _up(self) -> Extent:
        left_end = roof_at(self.data.roof.nominal, self._across.low)
        lowest = min(left_end, *(point.tflops for point in self.points))
        highest = max(self.data.roof.nominal_tflops, *(point.tflops for point in self.points))
        return Extent(lowest / 1.6, highest * 1.5, True)

    @property
    def _x(self) -> Channel:
        axis = {"values": ticks(self._across, 6), "format": ",.12~g", "titleAnchor": "start"}
        title = "FLOP per byte of compulsory traffic, log scale"
        return Channel(self._across.scale(), {**axis, "title": title, "grid": False})

    @property
    def _y(self) -> Channel:
        axis = {"values": ticks(self._up, 6), "format": ",.12~g", "title": None, "grid": True}
        return Channel(self._up.scale(), {**axis, "domain": False, "ticks": False})

    def _roof(self, style: str, peaks: tuple[float, float]) -> Layer:
        ridge = peaks[0] / peaks[1]
        places = [self._across.low, ridge, self._across.high]
        rows = [{"x": place, "y": roof_at(peaks, place)} for place in sorted(places)]
        return layer("line", style, rows, x=self._x.of("x"), y=self._y.of("y"), mark_clip=True)

    def _names(self) -> list[Layer]:
        """The fastest named at the right edge over their groups, threads leading to the dots."""
        if self.frame.is_narrow:
            return []
        named = self.points[:MAX_NAMED]
        wanted = [HEIGHT - self._up.position(point.tflops, HEIGHT) for point in named]
        room = [narrowest_room(LABEL_ROOM - 10, bold=bold) for bold in (False, True)]
        tall = any(point.group for point in named)
        places = spread_labels(wanted, GROUP_GAP if tall else 15, 6, HEIGHT - 6)
        rows: dict[str, list[Row]] = {"label": [], "label-lead": [], "detail": []}
        threads: list[Row] = []
        for index, (point, y, own) in enumerate(zip(named, places, wanted, strict=True)):
            name = fit_text(point.name, room[not index], 11.0, bold=not index)
            rows["label" if index else "label-lead"].append(text_row(self.width + 16, y, name))
            if point.group:
                group = fit_text(point.group, room[False], NOTE_SIZE)
                rows["detail"].append(text_row(self.width + 16, y + 13, group))
            x = self._across.position(point.intensity, self.width)
            threads.append(segment(x + 5, own, self.width + 12, y))
        found = [texts(style, said) for style, said in rows.items() if said]
        return [segments("drop", threads), *found]

    def _heading(self) -> Layer:
        said = f"achieved TFLOP/s, log scale; roofs for {clean_text(self.data.peak, limit=40)}"
        return texts("mark-label", [text_row(MARGIN - LEFT, -17, said)])


def _key(data: RooflineInput, points: Sequence[RooflinePoint], count: int) -> list[KeyItem]:
    found = [KeyItem("line", "curve", "nominal peaks")]
    if data.roof.attainable:
        found.append(KeyItem("line", "curve-attainable", "attainable peaks, measured"))
    if not all(point.verified for point in points):
        found.append(KeyItem("circle", "dot-hollow", "not verified"))
    if any(point.verified for point in points):
        found.append(KeyItem("circle", "dot-filled", "verified"))
    if count > len(points):
        found.append(KeyItem("line", "hairline", f"and {count - len(points):,} slower, not drawn"))
    return found


def _alt(data: RooflineInput, points: Sequence[RooflinePoint]) -> str:
    best = points[0]
    limit = roof_at(data.roof.nominal, best.intensity)
    ridge = data.roof.nominal_tflops / data.roof.nominal_tbps
    bound = "memory" if best.intensity < ridge else "compute"
    many = f"{len(data.points)} drawn" if data.partial else str(len(data.points))
    first = (
        f"{clean_text(best.words, limit=120)} is fastest of {many} at "
        f"{significant(best.tflops)} TFLOP/s, {100 * best.tflops / limit:.0f} % of the nominal roof"
    )
    return f"{first}; there the {bound} roof binds."


def _table(data: RooflineInput) -> Table:
    columns = ("entry", "group", "FLOP per byte", "TFLOP/s", "percent of nominal roof", "level")
    rows: list[tuple[Cell, ...]] = [
        (
            clean_text(point.name),
            clean_text(point.group),
            point.intensity,
            point.tflops,
            100 * point.tflops / roof_at(data.roof.nominal, point.intensity)
            if point.intensity > 0
            else None,
            "verified" if point.verified else "not verified",
        )
        for point in data.points
    ]
    return Table.of(columns, rows)
