"""What every source measured twice must not look like a difference."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from itertools import combinations

import pytest

from kernelindex.policy.margins import Tolerance, build_tolerance, source_dispersion
from kernelindex.policy.verdicts import VerdictKind, compare_reported
from kernelindex.registry.hardware import resolve_gpu
from kernelindex.registry.sources_info import find_source
from tests.policy.test_comparison import export_rows
from tests.support.shared import shared_path

Pair = tuple[float, float, str]
"""Two values of one entry in its primary unit, and the GPU's name."""

LIGER_IDENTITY = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "gpu_name",
    "liger_version",
)


def decisive(source: str, pairs: list[Pair], unit: str) -> float:
    """The share of pairs that our verdict calls different."""
    kinds = [
        compare_reported(one, other, tolerance_on(source, gpu, unit)).kind
        for one, other, gpu in pairs
    ]
    return sum(kind is not VerdictKind.UNCLEAR for kind in kinds) / len(kinds)


def tolerance_on(source: str, gpu: str, unit: str) -> Tolerance:
    product = resolve_gpu(gpu).product
    dispersion = source_dispersion(find_source(source))
    return build_tolerance(dispersion, tick_ns=product.tick_ns if product else None, unit=unit)


def liger_pairs(name: str) -> list[Pair]:
    """Points that two sweeps of one file both hold, in ns."""
    points: dict[tuple[str, ...], list[Pair]] = defaultdict(list)
    with shared_path(f"data/liger/{name}").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric_name"] == "speed" and row["x_name"] != "model_config":
                value = float(row["y_value_50"]) * 1e6
                points[_liger_point(row)].append((value, value, row["gpu_name"]))
    return [
        (one, other, gpu)
        for values in points.values()
        for (one, _, gpu), (other, _, _) in combinations(values, 2)
    ]


def _liger_point(row: dict[str, str]) -> tuple[str, ...]:
    fixed = json.loads(row["extra_benchmark_config_str"])
    axes = {key: str(value) for key, value in fixed.items() if value is not None}
    axes.pop("sweep_dim", None)
    if row["kernel_name"] == "fused_moe":
        axes[row["x_name"]] = row["x_value"]
    else:
        axes = {**axes, "swept": row["x_name"], "at": row["x_value"]}
    identity = (row[name] for name in LIGER_IDENTITY)
    return (*identity, json.dumps(axes, sort_keys=True))


def test_repeats_within_liger() -> None:
    pairs = liger_pairs("all_benchmark_data.csv")
    assert len(pairs) == 6
    assert max(max(one, other) / min(one, other) for one, other, _ in pairs) > 1.06
    assert decisive("liger-kernel-bench", pairs, "ns") <= 0.05


@pytest.fixture(scope="module")
def export_pairs() -> dict[str, list[Pair]]:
    """Pairs by source: one source text, or one implementation, measured again alike."""
    texts: dict[str, str] = {}
    entries: dict[tuple[str, ...], list[tuple[float, str]]] = defaultdict(list)
    for table, row in export_rows("implementations", "benchmark_runs"):
        if table == "implementations":
            text = row["manifest"]["spec"].get("source", {}).get("contentDigest")
            texts[row["implementationDigest"]] = text or row["implementationDigest"]
        elif row["status"] == "passed":
            spec = row["manifest"]["run"]["spec"]
            key = (
                spec["sourceNative"]["source"],
                texts[spec["implementationDigest"]],
                spec["workloadDigest"],
                spec["environmentDigest"],
                spec["protocolDigest"],
            )
            entries[key].append((row["primaryValue"], row["hardwareModel"]))
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for (source, *_), values in entries.items():
        pairs[source] += [(a, b, gpu) for (a, gpu), (b, _) in combinations(values, 2)]
    return pairs


@pytest.mark.parametrize(
    ("source", "unit", "least"), [("flashinfer-bench", "ns", 400), ("gpumode-kernelbot", "s", 1000)]
)
def test_repeats_within_the_export(
    export_pairs: dict[str, list[Pair]], source: str, unit: str, least: int
) -> None:
    pairs = export_pairs[source]
    assert len(pairs) >= least
    assert decisive(source, pairs, unit) <= 0.05


def test_every_source_with_repeats_has_its_dispersion(
    export_pairs: dict[str, list[Pair]],
) -> None:
    for source, pairs in export_pairs.items():
        assert (source_dispersion(find_source(source)) is not None) == bool(pairs), source
