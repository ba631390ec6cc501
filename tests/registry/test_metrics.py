"""Metrics carry a unit and a direction."""

from __future__ import annotations

from kernelindex.registry.metrics import METRICS, find_metric


def test_units_and_directions_of_what_ranks() -> None:
    facts = {key: (METRICS[key].direction, METRICS[key].canonical_unit) for key in METRICS}
    assert facts["latency"] == ("lower", "ns")
    assert facts["peak_memory"] == ("lower", "bytes")
    assert facts["score"] == ("lower", "s")
    assert facts["output_token_throughput_tps"] == ("higher", "tokens_s")


def test_an_unknown_metric_has_no_direction() -> None:
    assert find_metric("sol_score") is None
    assert find_metric("latency") is METRICS["latency"]
