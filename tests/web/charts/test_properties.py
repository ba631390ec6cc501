"""Whatever finite numbers come in, a drawing has only finite ones, inside its frame."""

from __future__ import annotations

import math
from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from kernelindex.web.charts.chart import NARROW, WIDE, Chart, NotDrawn
from kernelindex.web.charts.cohort import Floor, cohort_chart
from kernelindex.web.charts.limit_bar import limit_chart
from kernelindex.web.charts.samples import Generation, samples_chart
from kernelindex.web.charts.staircase import RecordStep, records_chart
from kernelindex.web.charts.sweep import SweepLine, SweepPoint, sweep_chart
from tests.web.charts.factories import cohort, entry, layers, limit, records, sweep
from tests.web.charts.test_samples import samples

FEW = settings(max_examples=30, deadline=None)
POSITIVE = st.floats(1e-9, 1e15)
ANY = st.floats(-1e12, 1e15)
FRAMES = st.sampled_from([WIDE, NARROW])


def numbers(chart: Chart) -> list[float]:
    data = [row.values() for one in layers(chart) for row in one["data"]["values"]]
    scales = [
        channel["scale"]["domain"]
        for one in layers(chart)
        for channel in one["encoding"].values()
        if channel.get("scale")
    ]
    return [x for some in (*data, *scales) for x in some if isinstance(x, int | float)]


def check(found: Chart | NotDrawn) -> None:
    if isinstance(found, NotDrawn):
        assert found.reason.endswith(".")
        return
    assert all(math.isfinite(number) for number in numbers(found))
    for one in layers(found):
        domains = [c["scale"]["domain"] for c in one["encoding"].values() if c.get("scale")]
        assert all(low < high for low, high in domains)
        scales = [c["scale"] for c in one["encoding"].values() if c.get("scale")]
        assert all(scale["domain"][0] > 0 for scale in scales if scale["type"] == "log")
    assert len(found.digest) == 32
    assert 100 < found.height < 1200


@FEW
@given(st.lists(st.tuples(ANY, POSITIVE, POSITIVE), max_size=12), st.none() | POSITIVE, FRAMES)
def test_cohorts(
    values: list[tuple[float, float, float]], floor: float | None, frame: object
) -> None:
    entries = [
        entry("n", value, interval=(value - low, value + high), spread=(low, high + low))
        for value, low, high in values
    ]
    data = cohort(*entries, floor=Floor(floor, "nominal") if floor else None, tolerance=0.1)
    check(cohort_chart(data, frame))  # type: ignore[arg-type]


@FEW
@given(st.lists(st.dictionaries(st.integers(0, 2**40), ANY, max_size=6), max_size=9), FRAMES)
def test_sweeps(lines: list[dict[int, float]], frame: object) -> None:
    made = [
        SweepLine(f"n{index}", tuple(SweepPoint(*pair) for pair in one.items()))
        for index, one in enumerate(lines)
    ]
    check(sweep_chart(sweep(*made), frame))  # type: ignore[arg-type]


@FEW
@given(ANY, st.none() | POSITIVE, st.none() | POSITIVE, FRAMES)
def test_limits(value: float, low: float | None, high: float | None, frame: object) -> None:
    check(limit_chart(limit(value=value, nominal=low, attainable=high), frame))  # type: ignore[arg-type]


@FEW
@given(st.lists(st.lists(ANY, max_size=30), max_size=15), st.booleans(), FRAMES)
def test_samples(groups: list[list[float]], clock: bool, frame: object) -> None:
    made = [Generation(values=tuple(one), clock_mhz=tuple(one) if clock else ()) for one in groups]
    check(samples_chart(samples(*made), frame))  # type: ignore[arg-type]


@FEW
@given(
    st.lists(st.tuples(st.integers(0, 20_000), st.none() | POSITIVE, st.booleans()), max_size=30),
    FRAMES,
)
def test_records(steps: list[tuple[int, float | None, bool]], frame: object) -> None:
    made = [
        RecordStep(
            date=date(1990, 1, 1) + timedelta(days=day),
            leader=None if value is None else "n",
            value=value,
            retracts=retracts,
        )
        for day, value, retracts in sorted(steps, key=lambda step: step[0])
    ]
    check(records_chart(records(*made), frame))  # type: ignore[arg-type]
