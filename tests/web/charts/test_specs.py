"""Every chart is valid Vega-Lite, bounded, and the same when made again."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date

import pytest

from kernelindex.web.charts.chart import NARROW, WIDE, Chart, Frame, NotDrawn, chart_from_dict
from kernelindex.web.charts.cohort import cohort_chart
from kernelindex.web.charts.limit_bar import limit_chart
from kernelindex.web.charts.looks import LOOKS
from kernelindex.web.charts.render import Renderer
from kernelindex.web.charts.samples import Generation, samples_chart
from kernelindex.web.charts.staircase import RecordStep, records_chart
from kernelindex.web.charts.sweep import sweep_chart
from tests.web.charts import test_limits, test_samples
from tests.web.charts.factories import drawn, limit, line, record_pair, records, sweep

Draw = Callable[[Frame], Chart | NotDrawn]
CHARTS: dict[str, Draw] = {
    "cohort": lambda frame: cohort_chart(record_pair(tolerance=0.1), frame),
    "sweep": lambda frame: sweep_chart(
        sweep(line("a · x", {8: 1.0, 16: 3.0}), line("b", {8: 2.0, 16: 1.0})), frame
    ),
    "limit": lambda frame: limit_chart(limit(), frame),
    "records": lambda frame: records_chart(
        records(
            RecordStep(date=date(2026, 1, 1), leader="a", value=2e6, level="reported"),
            RecordStep(date=date(2026, 5, 1), leader="b", value=1e6, level="verified"),
        ),
        frame,
    ),
    "samples": lambda frame: samples_chart(
        test_samples.samples(Generation(values=(1e6, 2e6), clock_mhz=(1980.0, 1900.0))), frame
    ),
    "ecdf": lambda frame: test_samples.ecdf_chart(test_samples.ecdf((1.0, 2.0), (3.0,)), frame),
    "roofline": lambda frame: test_limits.roofline_chart(
        test_limits.roofline(
            test_limits.RooflinePoint(name="a", intensity=50.0, tflops=100.0),
        ),
        frame,
    ),
}


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_a_chart_can_be_kept_and_read_again(name: str, frame: Frame) -> None:
    chart = drawn(CHARTS[name](frame))
    again = chart_from_dict(json.loads(json.dumps(chart.to_dict())))
    assert again.digest == chart.digest == drawn(CHARTS[name](frame)).digest
    assert chart.kind == name
    assert chart.width == frame.width
    assert 1 <= chart.alt.count(". ") + chart.alt.endswith(".") <= 2
    assert chart.table.rows


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_renders_at_its_stated_size(name: str, renderer: Renderer) -> None:
    chart = drawn(CHARTS[name](NARROW))
    head = renderer.draw(chart, "dark")[:300].decode()
    assert f'width="{chart.width}" height="{chart.height}"' in head


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS)
def test_a_specification_is_valid_vega_lite(name: str) -> None:
    altair = pytest.importorskip("altair")
    for frame in (WIDE, NARROW):
        spec = LOOKS["dark"].paint(drawn(CHARTS[name](frame)).spec)
        altair.Chart.from_dict(spec, validate=True)
