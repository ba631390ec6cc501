"""The published files and the shared edge cases, where they are at hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from kernelindex.catalog.intake import Row, Skipped
from kernelindex.policy import cohorts, entries, reading
from kernelindex.policy.facts import RunFacts
from kernelindex.sources.liger import SOURCE, read
from tests.sources.liger.factories import spec_of
from tests.support.shared import shared_path

MAIN, CUTILE = "all_benchmark_data.csv", "all_benchmark_data_cutile.csv"


@cache
def _read(path: Path) -> tuple[Row | Skipped, ...]:
    return tuple(read(path)[1])


def outcomes(name: str) -> tuple[Row | Skipped, ...]:
    return _read(shared_path(f"data/liger/{name}"))


def rows(name: str) -> list[Row]:
    return [item for item in outcomes(name) if isinstance(item, Row)]


def edge(name: str) -> list[Row | Skipped]:
    return list(read(shared_path(f"edge-cases/{name}"))[1])


def facts(row: Row) -> RunFacts:
    by_kind = {manifest.kind: manifest for manifest in row.manifests}
    return reading.read_run(
        by_kind["BenchmarkRun"],
        reading.read_workload(by_kind["WorkloadCase"], by_kind["OperationSpec"]),
        reading.read_protocol(by_kind["BenchmarkProtocol"]),
        reading.read_environment(by_kind["ExecutionEnvironment"]),
        reading.read_implementation(by_kind["ImplementationRevision"], source=SOURCE),
        reading.ObservationFacts(source=SOURCE),
    )


def field(row: Row, name: str) -> str:
    assert row.observation is not None
    return str(row.observation.row[name])


@pytest.mark.slow
def test_counts_of_the_main_file() -> None:
    found = outcomes(MAIN)
    metrics = Counter(field(row, "metric_name") for row in rows(MAIN))
    assert len(found) == 2448
    assert metrics["speed"] >= 1600
    assert metrics["memory"] >= 780
    assert metrics.total() + sum(isinstance(item, Skipped) for item in found) == 2448


def test_counts_of_the_cutile_file() -> None:
    found = outcomes(CUTILE)
    skipped = Counter(item.reason for item in found if isinstance(item, Skipped))
    assert len(found) == 1284
    assert skipped == {"provider_ambiguous": 48}


@pytest.mark.slow
def test_bound_dtypes_are_those_that_the_files_do_not_state() -> None:
    bound = [row for row in rows(MAIN) if row.observation and row.observation.bound]
    metrics = Counter(field(row, "metric_name") for row in bound)
    assert metrics == {"speed": 303, "memory": 113}
    assert sum(bool(row.observation and row.observation.bound) for row in rows(CUTILE)) == 156


@pytest.mark.parametrize("name", [MAIN, CUTILE])
def test_run_digests_are_unique_and_repeatable(name: str) -> None:
    digests = [row.manifests[-1].digest for row in rows(name)]
    assert len(set(digests)) == len(digests)
    again = islice(read(shared_path(f"data/liger/{name}"))[1], 300)
    repeated = [row.manifests[-1].digest for row in again if isinstance(row, Row)]
    assert repeated == digests[: len(repeated)]


@pytest.mark.parametrize("name", [MAIN, CUTILE])
def test_upstreams_key_names_one_row(name: str) -> None:
    keys = [row.observation.row_key for row in rows(name) if row.observation]
    assert len(set(keys)) == len(keys)


def test_the_rows_of_record() -> None:
    wanted = {"liger": 5_751_872, "huggingface": 63_962_017}
    found = {
        field(row, "kernel_provider"): facts(row)
        for row in rows(MAIN)
        if field(row, "kernel_name") == "fused_moe"
        and field(row, "kernel_operation_mode") == "backward"
        and field(row, "metric_name") == "speed"
        and field(row, "x_name") == "E"
        and field(row, "x_value") == "64"
    }
    values = {name: run.primary.value for name, run in found.items() if run.primary}
    assert values == wanted
    assert {run.sample_count for run in found.values()} == {1}
    assert len({cohorts.cohort_key(run) for run in found.values()}) == 1
    assert found["huggingface"].line.restated
    assert not found["liger"].line.restated
    assert found["liger"].device.product_id == "h100-sxm5-80gb"
    for run in found.values():
        assert "HARNESS_WORK_IN_TIMED_REGION" in {doubt.code for doubt in run.source_doubts}
        assert run.cost is not None
        assert round((run.cost.flops or 0) / 1e9) == 1237
    tflops = 1236.95e9 / (wanted["liger"] * 1e-9) / 1e12
    assert round(tflops) == 215


def test_the_point_in_both_moe_sweeps_is_one_entry() -> None:
    point: dict[tuple[str, str, str], list[RunFacts]] = defaultdict(list)
    for row in rows(MAIN):
        run = facts(row) if field(row, "kernel_name") == "fused_moe" else None
        if (
            run
            and dict(run.shape.axes)["experts"] == 128
            and dict(run.shape.axes)["tokens"] == 8192
        ):
            key = ("kernel_provider", "kernel_operation_mode", "metric_name")
            point[field(row, key[0]), field(row, key[1]), field(row, key[2])].append(run)
    assert len(point) == 12
    for pair in point.values():
        assert len(pair) == 2
        assert len({cohorts.cohort_key(run) for run in pair}) == 1
        assert len({entries.entry_key(run) for run in pair}) == 1


def test_equal_quantiles_are_one_sample_in_all_but_three_rows() -> None:
    """Two are a short time on a coarse timer, one might be two or three equal samples."""
    speed = [r for r in (*rows(MAIN), *rows(CUTILE)) if field(r, "metric_name") == "speed"]
    texts = ("y_value_20", "y_value_50", "y_value_80")
    alike = [row for row in speed if len({field(row, name) for name in texts}) == 1]
    single = [row for row in speed if facts(row).sample_count == 1]
    unclear = [row for row in alike if row not in single]
    assert len(alike) == 505  # 514 with the rows whose provider is ambiguous
    assert set(map(id, single)) <= set(map(id, alike))
    assert [field(row, "kernel_name") for row in unclear] == [
        "softmax",
        "softmax",
        "cross_entropy",
    ]


def test_every_device_and_operation_is_known() -> None:
    for row in (*rows(MAIN), *rows(CUTILE)):
        run = facts(row)
        assert run.device.product_id is not None, field(row, "gpu_name")
        assert run.shape.mapped
        assert run.primary is not None


def test_no_run_is_faster_than_its_own_doubted_work() -> None:
    for row in (*rows(MAIN), *rows(CUTILE)):
        run = spec_of(row, "BenchmarkRun")
        shifts = sum(doubt.get("shiftNs", 0) for doubt in run.get("doubts", ()))
        assert shifts < run.get("timing", {}).get("latencyNs", {}).get("median", 1)


def test_edge_byte_order_mark() -> None:
    (row,) = edge("E11-liger-utf8-bom.csv")
    assert isinstance(row, Row)
    assert "kernel_name" in (row.observation.row if row.observation else {})


def test_edge_float32_noise() -> None:
    (row,) = edge("E15-liger-float32-noise.csv")
    assert isinstance(row, Row)
    assert spec_of(row, "BenchmarkRun")["timing"]["latencyNs"]["median"] == 7168
    assert field(row, "y_value_50") == "0.0071680000983178616"


def test_edge_blank_row() -> None:
    first, second = edge("E16-liger-blank-row.csv")
    assert isinstance(first, Row)
    assert isinstance(second, Skipped)
    assert second.reason == "blank_row"


def test_edge_missing_values() -> None:
    first, second, third = edge("E17-liger-nan-empty.csv")
    assert isinstance(first, Skipped)
    assert first.reason == "missing_value"
    for row in (second, third):
        assert isinstance(row, Row)
        run = spec_of(row, "BenchmarkRun")
        assert run["timing"]["latencyNs"] == {"median": 500_000}
        assert "measurements" not in run


def test_edge_null_is_swept() -> None:
    (row,) = edge("E19-liger-moe-null-sweep.csv")
    assert isinstance(row, Row)
    run = facts(row)
    assert dict(run.shape.axes) == {
        "tokens": 128,
        "experts": 128,
        "hidden": 2048,
        "intermediate": 768,
        "k": 8,
    }
    assert dict(run.shape.dtypes)["x"] == "bf16"


def test_edge_degenerate_quantiles() -> None:
    (row,) = edge("E21-liger-degenerate-quantiles.csv")
    assert isinstance(row, Row)
    run = facts(row)
    assert run.sample_count == 1
    assert run.spread is None
    assert run.interval is None
