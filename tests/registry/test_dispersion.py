"""The packaged dispersion is what its script derives from the real data."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from kernelindex.registry.resources import load_data
from tests.support.shared import shared_path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "derive_dispersion.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("derive_dispersion", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_percentile_interpolates_and_stops_at_the_largest(script: ModuleType) -> None:
    assert script.percentile([1.0, 2.0, 3.0], 0.5) == 2.0
    assert script.percentile([3.0, 1.0, 2.0], 0.99) == 3.0
    assert script.percentile(range(1, 100), 0.9) == pytest.approx(90.0)
    assert script.percentile([4.0], 0.9) == 4.0


def test_summary_of_repeats(script: ModuleType) -> None:
    entries = {("a",): [100.0, 110.0], ("b",): [10.0], ("c",): [1.0, 1.0, 1.02]}
    found = script.summarise(entries, "made up")
    assert (found["entries"], found["pairs"]) == (2, 4)
    assert found["p90_relative"] == pytest.approx(0.1)
    assert script.summarise({("b",): [10.0]}, "made up") is None


def test_liger_points_that_two_sweeps_share(script: ModuleType) -> None:
    entries = script.read_liger(shared_path("data/liger/all_benchmark_data.csv"))
    repeats = {key: values for key, values in entries.items() if len(values) > 1}
    kernels = [key[0] for key in repeats]
    assert {name: kernels.count(name) for name in set(kernels)} == {
        "fused_moe": 6,
        "rope": 6,
        "llama4_rope": 6,
    }
    worst = max(repeats, key=lambda key: max(repeats[key]) / min(repeats[key]))
    assert worst[:3] == ("llama4_rope", "liger", "backward")


@pytest.mark.slow
def test_packaged_data_is_current(script: ModuleType) -> None:
    assert script.derive(shared_path("data")) == load_data("dispersion.json")
