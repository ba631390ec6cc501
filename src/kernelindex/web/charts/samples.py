"""Samples or medians of rounds in the order they were taken, a strip a generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex import stats
from kernelindex.resolve.numbers import Scale, scale_for
from kernelindex.web.charts.chart import WIDE, Cell, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.layers import KeyItem, Sheet
from kernelindex.web.charts.samples_drawing import CLOCK_ROOM, HEIGHT, Drawing
from kernelindex.web.charts.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DOTS = 900
MAX_GENERATIONS = 12
SAMPLE, ROUND_MEDIAN = "sample", "round median"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The samples of one fresh process in time order, with the SM clock at each in MHz.

    ``clock_mhz`` is empty where clocks were not sampled, else as long as ``values``.
    """

    values: tuple[float, ...]
    clock_mhz: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesInput:
    """All timings of one run.

    ``dot`` is what each of them is, in the singular: a sample, or the median of a round;
    ``clock`` is what the clocks are.
    """

    title: str
    setting: str
    source: str
    metric: str
    unit: str
    generations: tuple[Generation, ...]
    dot: str = SAMPLE
    clock: str = "SM clock"


def samples_chart(data: SamplesInput, frame: Frame = WIDE) -> Chart | NotDrawn:
    """The strips of at most twelve generations; beyond 900 dots the extremes are kept."""
    generations = [one for one in data.generations if one.values][:MAX_GENERATIONS]
    if not generations:
        return NotDrawn("samples", "The samples of this run are not here.")
    scale = scale_for([stats.median(one.values) for one in generations], data.unit)
    each = max(8, MAX_DOTS // len(generations))
    kept = [thin_samples(one.values, each) for one in generations]
    drawing = Drawing(frame, generations, kept, scale, data.metric, data.dot, data.clock)
    sheet = Sheet(
        frame=frame,
        left=drawing.left,
        right=drawing.right,
        plot_height=HEIGHT + (CLOCK_ROOM if drawing.has_clock else 0),
        title=data.title,
        subtitle=data.setting,
        note=data.source,
        layers=drawing.layers(),
        key=_key(data, generations, kept, drawing.has_clock),
        head_room=30,
    )
    spec, height = sheet.to_spec()
    return Chart(
        kind="samples",
        title=clean_text(data.title),
        alt=_alt(data, generations, scale),
        source=clean_text(data.source, limit=400),
        table=_table(data),
        spec=spec,
        width=frame.width,
        height=height,
    )


def thin_samples(values: Sequence[float], most: int) -> list[int]:
    """Indices of the samples to draw: all, or of each stretch its lowest and its highest."""
    count = len(values)
    if count <= most:
        return list(range(count))
    stretches = max(1, most // 2)
    found: set[int] = set()
    for number in range(stretches):
        inside = range(number * count // stretches, (number + 1) * count // stretches)
        found.add(min(inside, key=values.__getitem__))
        found.add(max(inside, key=values.__getitem__))
    return sorted(found)


def _key(
    data: SamplesInput, generations: Sequence[Generation], kept: Sequence[list[int]], clock: bool
) -> list[KeyItem]:
    total, drawn = sum(len(one.values) for one in generations), sum(map(len, kept))
    every = f"{total:,} {data.dot}{'' if total == 1 else 's'}"
    dots = every if drawn == total else f"{drawn:,} of {every}, extremes kept"
    found = [KeyItem("circle", "sample", dots), KeyItem("line", "median", "median of a generation")]
    if clock:
        found.append(KeyItem("line", "clock", "SM clock"))
    left_out = len(data.generations) - len(generations)
    if left_out:
        found.append(KeyItem("line", "hairline", f"{left_out:,} more generations, not drawn"))
    return found


def _alt(data: SamplesInput, generations: Sequence[Generation], scale: Scale) -> str:
    medians = [stats.median(one.values) for one in generations]
    total = sum(len(one.values) for one in generations)
    low, high = scale.with_unit(min(medians)), scale.with_unit(max(medians))
    many = "generation" if len(generations) == 1 else "generations"
    span = f"median {low}" if low == high else f"medians from {low} to {high}"
    dots = f"{data.dot}{'' if total == 1 else 's'}"
    first = f"{total:,} {dots} in {len(generations)} {many}, {span}."
    clocks = [clock for one in generations for clock in one.clock_mhz]
    if not clocks:
        return first
    low, high = f"{min(clocks):,.0f}", f"{max(clocks):,.0f}"
    return f"{first} {data.clock}: {low if low == high else f'{low} to {high}'} MHz."


def _table(data: SamplesInput) -> Table:
    """Every timing; a column of clocks only where there are some."""
    counted = data.dot.partition(" ")[0]
    said = "" if data.dot == counted else f", {data.dot}"
    columns = ["generation", counted, f"{data.metric} ({data.unit}){said}"]
    clocked = any(one.clock_mhz for one in data.generations)
    rows: list[tuple[Cell, ...]] = []
    for number, one in enumerate(data.generations, start=1):
        clocks: Sequence[float | None] = one.clock_mhz or [None] * len(one.values)
        for index, (value, clock) in enumerate(zip(one.values, clocks, strict=False), start=1):
            rows.append((number, index, value, *((clock,) if clocked else ())))
    columns += [f"{data.clock} (MHz)"] if clocked else []
    return Table(tuple(map(clean_text, columns)), tuple(rows))  # of numbers: nothing to clean
