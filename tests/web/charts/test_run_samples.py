"""The rounds of a controlled run, drawn from what its manifest states."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.web.charts.adapters import samples_input
from kernelindex.web.charts.chart import Chart
from kernelindex.web.charts.samples import samples_chart
from tests.web.charts.factories import words

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
