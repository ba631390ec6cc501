from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import zstandard

from kernelindex.policy.comparison import (
    AMBIGUOUS_PRIMARY,
    MISSING_PRIMARY,
    PrimaryProblem,
    comparison_key,
    direction_of,
    primary_measurement,
)
from kernelindex.policy.facts import Direction, Primary
from tests.support.shared import shared_path

PROTOCOL = {"measurement": {"timer": "cuda_events", "primaryStatistic": "mean"}}
CASE = {"operationSpecDigest": "sha256:op", "correctness": {"comparator": "allclose"}}
SUITE = CASE | {"aggregation": {"metric": "score", "statistic": "mean"}}


def measured(metric: str, statistic: str, value: float = 1.0) -> dict[str, Any]:
    return {"metric": metric, "statistic": statistic, "unit": "s", "value": value}


def a_run(**changes: Any) -> dict[str, Any]:
    named = {f"{part}Digest": f"sha256:{part}" for part in ("workload", "protocol", "environment")}
    return {"status": "passed", **named, **changes}


class TestPrimary:
    def test_timing_comes_first_and_is_nanoseconds(self) -> None:
        timing = {"primaryStatistic": "median", "latencyNs": {"median": 5, "mean": 6}}
        run = a_run(timing=timing, measurements=[measured("score", "mean")])
        found = primary_measurement(run, PROTOCOL)
        assert isinstance(found, Primary)
        assert (found.key, found.value) == ("latency:median:ns", 5)
        assert found.direction is Direction.LOWER

    def test_else_the_measurement_at_the_protocols_statistic(self) -> None:
        run = a_run(measurements=[measured("score", "mean", 2.5), measured("score", "std", 9.0)])
        found = primary_measurement(run, PROTOCOL)
        assert isinstance(found, Primary)
        assert (found.key, found.value) == ("score:mean:s", 2.5)

    def test_a_suite_narrows_to_its_aggregation(self) -> None:
        run = a_run(measurements=[measured("score", "mean", 2.5), measured("energy", "mean", 9.0)])
        alone = primary_measurement(run, PROTOCOL)
        in_suite = primary_measurement(run, PROTOCOL, SUITE)
        assert isinstance(alone, PrimaryProblem)
        assert alone.code == AMBIGUOUS_PRIMARY
        assert isinstance(in_suite, Primary)
        assert in_suite.value == 2.5

    @pytest.mark.parametrize(
        "run",
        [
            a_run(),
            a_run(measurements=[measured("score", "median")]),
            a_run(timing={"primaryStatistic": "median", "latencyNs": {"mean": 6}}),
        ],
    )
    def test_none_is_missing(self, run: dict[str, Any]) -> None:
        found = primary_measurement(run, PROTOCOL)
        assert isinstance(found, PrimaryProblem)
        assert found.code == MISSING_PRIMARY

    def test_an_unknown_metric_has_no_direction(self) -> None:
        assert direction_of("elegance") is None
        assert direction_of("output_token_throughput_tps") is Direction.HIGHER


class TestKey:
    def test_a_failed_run_has_no_metric(self) -> None:
        run = a_run(status="timeout", measurements=[measured("score", "mean")])
        assert comparison_key(run, CASE, PROTOCOL).metric_key == "none"

    @pytest.mark.parametrize("part", ["workloadDigest", "protocolDigest", "environmentDigest"])
    def test_names_the_exact_manifests(self, part: str) -> None:
        run = a_run(measurements=[measured("score", "mean")])
        other = run | {part: "sha256:other"}
        key = comparison_key(run, CASE, PROTOCOL)
        assert key.key != comparison_key(other, CASE, PROTOCOL).key
        assert key.correctness_key == comparison_key(other, CASE, PROTOCOL).correctness_key

    def test_the_value_is_not_in_it(self) -> None:
        keys = {
            comparison_key(
                a_run(measurements=[measured("score", "mean", value)]), CASE, PROTOCOL
            ).key
            for value in (1.0, 2.0)
        }
        assert len(keys) == 1

    def test_the_seed_run(self) -> None:
        seed = json.loads(shared_path("conformance/seed-run-01a0202b.json").read_text())
        specs = {name: one["spec"] for name, one in seed["manifests"].items()}
        key = comparison_key(specs["run"], specs["workload"], specs["protocol"])
        expected = seed["expected"]
        assert key.key == expected["comparisonKey"]
        assert key.correctness_key == expected["correctnessKey"]
        assert key.metric_key == expected["metricKey"]


def export_rows(*tables: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of some tables of the public export."""
    path = shared_path("data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst")
    marks = tuple(f'"table":"{table}"' for table in tables)
    with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            if any(mark in line[:60].replace(" ", "") for mark in marks):
                record = json.loads(line)
                yield record["table"], record["row"]


@pytest.mark.slow
def test_every_passed_run_of_the_export_has_its_key() -> None:
    workloads: dict[str, dict[str, Any]] = {}
    metrics: Counter[str] = Counter()
    wrong = []
    for table, row in export_rows("workloads", "benchmark_runs"):
        if table == "workloads":
            workloads[row["workloadDigest"]] = row["manifest"]["spec"]
            continue
        run, protocol = (row["manifest"][kind]["spec"] for kind in ("run", "protocol"))
        key = comparison_key(run, workloads[run["workloadDigest"]], protocol)
        metrics[key.metric_key] += 1
        if row["status"] == "passed" and key.key != row["comparisonKey"]:
            wrong.append(row["id"])
    assert wrong == []
    assert metrics == {
        "latency:mean:ns": 4636,
        "score:geomean:s": 2063,
        "score:unspecified:s": 1072,
        "none": 86,
    }
