"""ECDF: two sets of timings as shares of them at or under each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex import stats
from kernelindex.resolve.numbers import Scale, ratio_text, scale_for
from kernelindex.web.charts.chart import WIDE, Cell, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.layers import (
    MARGIN,
    Channel,
    KeyItem,
    Layer,
    Sheet,
    dots,
    layer,
    text_row,
    texts,
)
from kernelindex.web.charts.samples import SAMPLE
from kernelindex.web.charts.scales import LOG_BEYOND, Extent, ticks
from kernelindex.web.charts.text import clean_text, fit_text

if TYPE_CHECKING:
    from collections.abc import Sequence

HEIGHT = 210
LEFT = 52
MAX_STEPS = 400
STYLES = ("curve-lead", "curve")
DOTS = ("dot-filled-lead", "dot-filled")


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples of one run under the name it is compared by."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EcdfInput:
    """Two runs whose timings are laid over each other.

    ``dot`` is what each timing is, in the singular: a sample, or the median of a round.
    """

    title: str
    setting: str
    source: str
    metric: str
    unit: str
    first: SampleSet
    second: SampleSet
    dot: str = SAMPLE


def ecdf_chart(data: EcdfInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """Two step curves with their medians marked; at most 400 steps each."""
    sets = (data.first, data.second)
    if not all(one.values for one in sets):
        return NotDrawn("ecdf", "The samples of both runs are needed and not both are here.")
    scale = scale_for([stats.median(one.values) for one in sets], data.unit)
    sheet = Sheet(
        frame=frame,
        left=LEFT,
        right=MARGIN + 6,
        plot_height=HEIGHT,
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=_layers(data, scale),
        key=[
            KeyItem(
                "line", style, f"{one.name}: median {scale.with_unit(stats.median(one.values))}"
            )
            for style, one in zip(STYLES, sets, strict=True)
        ],
        head_room=30,
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="ecdf",
        title=clean_text(data.title),
        alt=_alt(data, scale),
        source=clean_text(data.source, limit=400),
        table=_table(data),
        spec=spec,
        width=frame.width,
        height=height,
    )


def curve_of(values: Sequence[float], most: int = MAX_STEPS) -> list[tuple[float, float]]:
    """(value, share of samples at or under it), at most ``most`` + 1 points, ends kept."""
    ordered = sorted(values)
    count = len(ordered)
    ranks = range(count) if count <= most else [i * (count - 1) // most for i in range(most + 1)]
    return [(ordered[0], 0.0), *((ordered[rank], (rank + 1) / count) for rank in ranks)]


def _layers(data: EcdfInput, scale: Scale) -> list[Layer]:
    every = [value / scale.divisor for one in (data.first, data.second) for value in one.values]
    extent = _extent(min(every), max(every))
    unit = f" ({scale.unit})" if scale.unit else ""
    kind = "log scale" if extent.is_log else "axis not from zero"
    x = Channel(
        extent.scale(),
        {
            "values": ticks(extent),
            "format": ",.12~g",
            "title": f"{fit_text(data.metric, 200, 10.5)}{unit}, {kind}",
            "titleAnchor": "start",
            "grid": False,
        },
    )
    shares = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".0%", "title": None, "domain": False}
    y = Channel(Extent(0.0, 1.02, False).scale(), {**shares, "grid": True, "ticks": False})
    found: list[Layer] = []
    for style, dot, one in zip(STYLES, DOTS, (data.first, data.second), strict=True):
        rows = [{"x": value / scale.divisor, "y": share} for value, share in curve_of(one.values)]
        found.append(
            layer("line", style, rows, x=x.of("x"), y=y.of("y"), mark_interpolate="step-after")
        )
        middle = {"x": stats.median(one.values) / scale.divisor, "y": 0.5}
        found.append(dots(dot, [middle], x.of("x"), y.of("y")))
    heading = text_row(
        MARGIN - LEFT, -17, f"share of {data.dot}s at or under each time; dots at medians"
    )
    return [*found, texts("mark-label", [heading])]


def _extent(low: float, high: float) -> Extent:
    if low > 0 and high / low > LOG_BEYOND:
        pad = (high / low) ** 0.03
        return Extent(low / pad, high * pad, True)
    pad = (high - low) * 0.05 or abs(high) * 0.02 or 1.0
    return Extent(low - pad, high + pad, False)


def _alt(data: EcdfInput, scale: Scale) -> str:
    first, second = (stats.median(one.values) for one in (data.first, data.second))
    names = [clean_text(one.name, limit=80) for one in (data.first, data.second)]
    overlap = max(min(data.first.values), min(data.second.values)) <= min(
        max(data.first.values), max(data.second.values)
    )
    ratio = f" ({ratio_text(second / first)})" if first > 0 else ""
    said = f"{names[0]} {scale.with_unit(first)}, {names[1]} {scale.with_unit(second)}{ratio}"
    return (
        f"Medians: {said}. "
        f"The ranges of their {data.dot}s {'overlap' if overlap else 'do not overlap'}."
    )


def _table(data: EcdfInput) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (clean_text(one.name), value, (rank + 1) / len(one.values))
        for one in (data.first, data.second)
        for rank, value in enumerate(sorted(one.values))
    ]
    said = "" if data.dot == SAMPLE else f", {data.dot}"
    return Table.of(("run", f"{data.metric} ({data.unit}){said}", "share at or under"), rows)
