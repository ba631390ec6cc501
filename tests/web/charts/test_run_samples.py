"""The samples of a controlled run with their clocks, else the rounds its manifest states."""

from __future__ import annotations

import gzip
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.web.charts.adapters import samples_input
from kernelindex.web.charts.chart import Chart
from kernelindex.web.charts.samples import samples_chart
from kernelindex.web.charts.series import find_generations, generations_of
from kernelindex.web.charts.subjects import chart_of
from tests.support.shipped import all_runs, client, shipped
from tests.web.charts.factories import plotted, words

ROUNDS = [[2_217_000, 2_184_000, 2_191_000], [2_187_000, 2_293_000, 2_177_000]]


def dossier(timing: dict[str, Any]) -> Any:
    return SimpleNamespace(
        manifests={"run": {"spec": {"timing": timing}}},
        implementation=SimpleNamespace(title="Ours"),
        source=SimpleNamespace(slug="kernelindex-runner"),
        identity=SimpleNamespace(run="sha256:" + "ab" * 32),
        timed_pass="backward",
        operation="moe-mlp",
        operation_title="Fused MoE expert MLP",
        hardware=SimpleNamespace(label="H200"),
        regime="controlled protocol 1, burst",
        shape=SimpleNamespace(axes={"tokens": 8192}, dtypes={}, distribution=None),
    )


def test_every_round_is_a_dot_in_the_strip_of_its_process() -> None:
    data = samples_input(dossier({"roundMediansNs": ROUNDS}))
    assert data is not None
    assert [list(one.values) for one in data.generations] == ROUNDS
    chart = samples_chart(data)
    assert isinstance(chart, Chart)
    assert "Ours" in chart.title
    assert len(chart.table.rows) == 6


def test_medians_of_rounds_are_not_called_samples() -> None:
    data = samples_input(dossier({"roundMediansNs": ROUNDS}))
    assert data is not None
    chart = samples_chart(data)
    assert isinstance(chart, Chart)
    assert "6 round medians" in words(chart)
    assert chart.alt == "6 round medians in 2 generations, median 2.19 ms."
    assert "sample" not in chart.alt + " ".join(words(chart))
    assert chart.table.columns == ("generation", "round", "latency (ns), round median")


@pytest.mark.parametrize("timing", [{}, {"roundMediansNs": []}])
def test_a_run_without_rounds_has_no_such_chart(timing: dict[str, Any]) -> None:
    assert samples_input(dossier(timing)) is None


def reading(clock: float | None) -> dict[str, Any]:
    return {"summary": {} if clock is None else {"sm_mhz": {"median": clock, "samples": 2}}}


def test_each_sample_has_the_clock_of_its_round() -> None:
    series = {
        "samplesNs": [[[10.0, 11.0], [], [12.0]], [[20.0], [21.0]], [[30.0]], []],
        "telemetry": [[reading(1980), reading(1), reading(1500)], [reading(1900), reading(None)]],
    }
    first, second, third = generations_of(series)
    assert (first.values, first.clock_mhz) == ((10.0, 11.0, 12.0), (1980.0, 1980.0, 1500.0))
    assert (second.values, second.clock_mhz) == ((20.0, 21.0), ())
    assert (third.values, third.clock_mhz) == ((30.0,), ())


NEGATIVE = gzip.compress(b'{"samplesNs":[[[-1]]]}')


@pytest.mark.parametrize("body", [b"", b"no gzip", NEGATIVE], ids=["empty", "text", "negative"])
def test_a_series_that_cannot_be_read_leaves_the_rounds(body: bytes) -> None:
    kept = SimpleNamespace(artifact=lambda _digest: SimpleNamespace(body=body))
    assert find_generations(kept, {"samples": {"digest": "sha256:ab"}}) == ()
    assert find_generations(SimpleNamespace(artifact=lambda _digest: None), {}) == ()


def test_every_sample_of_a_shipped_run_is_drawn_over_its_clocks() -> None:
    """Held against what the run states of itself, which other code has summed up."""
    run = next(one for one in all_runs() if one.status == "passed" and one.profile == "controlled")
    spec = shipped().documents([run.digest])[run.digest]["spec"]
    chart = chart_of(shipped(), "samples", run.digest)
    assert isinstance(chart, Chart)
    assert len(chart.table.rows) == spec["timing"]["samples"]
    values = [row[2] for row in chart.table.rows]
    assert median(values) == pytest.approx(spec["timing"]["latencyNs"]["median"], abs=0.51)
    told = spec["telemetry"]["smClockMhz"]
    clocks = plotted(chart, "clock", "clock")
    assert told["minimum"] <= min(clocks) <= max(clocks) <= told["maximum"]
    assert "SM clock, median of each round's readings (MHz)" in words(chart)
    page = client().get(f"/runs/{run.digest[7:19]}").text
    assert f"/charts/samples/{chart.digest}.svg" in page
