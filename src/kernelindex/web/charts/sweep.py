"""Sweep: how far each entry is from the best, along one axis of the workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import ratio_text
from kernelindex.web.charts.chart import WIDE, Cell, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.layers import KeyItem, Sheet
from kernelindex.web.charts.sweep_drawing import HEIGHT, Drawing
from kernelindex.web.charts.sweep_points import Crossover, find_crossovers, ratios_of
from kernelindex.web.charts.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINES = 6
MAX_SIZES = 64


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """A measured value at one size of the axis."""

    size: int
    value: float
    verified: bool = False


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One implementation along the axis; ``name`` is ``project · path``."""

    name: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepInput:
    """Values of several lines at sizes of one axis, all else equal.

    ``tolerance``  relative size below which a lead says nothing
    """

    title: str
    setting: str
    source: str
    axis: str
    unit: str
    direction: str | None
    lines: tuple[SweepLine, ...]
    tolerance: float = 0.05


def sweep_chart(data: SweepInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """Ratio to the best at each measured size; dashes join neighbours, nothing is invented."""
    lines = tuple(line for line in data.lines if any(p.size > 0 < p.value for p in line.points))
    sizes = sorted({p.size for line in lines for p in line.points if p.size > 0 < p.value})
    if len(sizes) < 2:
        return NotDrawn("sweep", f"{clean_text(data.axis)} was measured at one size at most.")
    if len(sizes) > MAX_SIZES:
        return NotDrawn("sweep", f"{len(sizes):,} sizes of {clean_text(data.axis)} are too many.")
    ratios = ratios_of(lines, higher=data.direction == "higher")
    crossings = find_crossovers(lines, ratios, data.tolerance)
    shown = _chosen(lines, ratios)
    drawing = Drawing(data.axis, frame, lines, sizes, ratios, shown)
    sheet = Sheet(
        frame=frame,
        left=drawing.left,
        right=drawing.right,
        plot_height=HEIGHT,
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=drawing.layers(crossings),
        key=[*drawing.names_as_key(), *_key(lines, crossings, len(lines) - len(shown), frame)],
        head_room=30,
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="sweep",
        title=clean_text(data.title),
        alt=_alt(data, lines, sizes, ratios, crossings, shown[0]),
        source=clean_text(data.source, limit=400),
        table=_table(data, lines, ratios),
        spec=spec,
        width=frame.width,
        height=height,
    )


def _chosen(lines: Sequence[SweepLine], ratios: Sequence[dict[int, float]]) -> list[int]:
    """At most six lines: those that lead most often and then lie nearest to the best."""

    def merit(index: int) -> tuple[int, float, int]:
        own = ratios[index].values()
        return (-sum(ratio == 1.0 for ratio in own), sum(own) / len(own), index)

    return sorted(range(len(lines)), key=merit)[:MAX_LINES]


def _key(
    lines: Sequence[SweepLine], crossings: Sequence[Crossover], left_out: int, frame: Frame
) -> list[KeyItem]:
    verified = [point.verified for line in lines for point in line.points]
    found = []
    if not all(verified):
        found.append(KeyItem("circle", "dot-hollow", "measured, not verified"))
    if any(verified):
        found.append(KeyItem("circle", "dot-filled", "measured, verified"))
    found.append(KeyItem("line", "series", "joins neighbours; not measured between"))
    if crossings and frame.is_narrow:
        found.append(KeyItem("box", "change", "the lead changes within"))
    elif crossings:
        found += [
            KeyItem("box", "change", f"the lead changes: {one.words}") for one in crossings[:3]
        ]
    if left_out:
        found.append(KeyItem("line", "hairline", f"and {left_out:,} more, not drawn"))
    return found


def _alt(
    data: SweepInput,
    lines: Sequence[SweepLine],
    sizes: Sequence[int],
    ratios: Sequence[dict[int, float]],
    crossings: Sequence[Crossover],
    first: int,
) -> str:
    axis = clean_text(data.axis, limit=60)
    span = f"{axis} from {sizes[0]:,} to {sizes[-1]:,} ({len(sizes)} sizes measured)"
    worst, size, index = max(
        (ratio, -size, index) for index, found in enumerate(ratios) for size, ratio in found.items()
    )
    name = clean_text(lines[index].name, limit=80)
    far = f"{name} takes {ratio_text(worst)} the best at {-size:,}"
    if data.direction == "higher":
        far = f"{name} is {ratio_text(worst)} behind the best at {-size:,}"
    if len(lines) == 1:
        return f"Over {span} only {name} was measured, so there is nothing to compare it with."
    if crossings:
        return f"Over {span} the lead changes: {crossings[0].words}. Furthest off, {far}."
    if all(found == 1.0 for found in ratios[first].values()) and len(ratios[first]) == len(sizes):
        return f"Over {span} {clean_text(lines[first].name, limit=80)} is ahead throughout; {far}."
    return f"Over {span} the lead does not clearly change. Furthest off, {far}."


def _table(
    data: SweepInput, lines: Sequence[SweepLine], ratios: Sequence[dict[int, float]]
) -> Table:
    columns = ("entry", clean_text(data.axis), f"value ({data.unit})", "ratio to the best", "level")
    rows: list[tuple[Cell, ...]] = [
        (
            clean_text(line.name),
            point.size,
            point.value,
            found[point.size],
            "verified" if point.verified else "not verified",
        )
        for line, found in zip(lines, ratios, strict=True)
        for point in sorted(line.points, key=lambda point: point.size)
        if point.size in found
    ]
    return Table.of(columns, rows)
