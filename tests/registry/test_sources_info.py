"""Standing doubts of a source, and their size."""

from __future__ import annotations

import pytest

from kernelindex.registry.hardware import PRODUCTS
from kernelindex.registry.sources_info import SOURCES, SourceDoubt, find_source, shift_ns

RECORD = {"tokens": 8192, "hidden": 2048, "intermediate": 768, "experts": 64, "k": 8}


def harness_work() -> SourceDoubt:
    doubts = SOURCES["liger-kernel-bench"].doubts
    return next(doubt for doubt in doubts if doubt.code == "HARNESS_WORK_IN_TIMED_REGION")


def test_harness_work_concerns_passes_that_compute_gradients() -> None:
    doubt = harness_work()
    assert doubt.applies_to("moe-mlp", "backward")
    assert doubt.applies_to("moe-mlp", "full")
    assert not doubt.applies_to("moe-mlp", "forward")
    assert not doubt.applies_to("rms-norm", "backward")


@pytest.mark.parametrize(
    ("product", "experts", "ns"),
    [
        ("h100-sxm5-80gb", 64, 1.0e6),
        ("h100-sxm5-80gb", 128, 2.0e6),
        ("h200-sxm-141gb", 64, 0.70e6),
        ("h200-sxm-141gb", 8, 0.0875e6),
    ],
)
def test_shift_scales_with_the_experts(product: str, experts: int, ns: float) -> None:
    axes = {**RECORD, "experts": experts}
    assert shift_ns(harness_work(), PRODUCTS[product], axes) == pytest.approx(ns)


def test_shift_agrees_with_the_copy_rate_it_is_explained_by() -> None:
    doubt = harness_work()
    h200 = PRODUCTS["h200-sxm-141gb"]
    assert doubt.shift is not None
    traffic = 30 * 64 * 768 * 2048
    assert traffic == pytest.approx(3.02e9, rel=0.01)
    by_copy = traffic / h200.attainable["copy"].value * 1e9
    assert shift_ns(doubt, h200, RECORD) == pytest.approx(by_copy, rel=0.05)


def test_no_size_is_invented() -> None:
    doubt = harness_work()
    assert shift_ns(doubt, None, RECORD) is None
    assert shift_ns(doubt, PRODUCTS["b200-sxm-180gb"], RECORD) is None
    assert shift_ns(doubt, PRODUCTS["h200-sxm-141gb"], {"tokens": 8192}) is None


def test_dispersion_is_known_where_a_source_repeats_itself() -> None:
    known = {slug for slug, source in SOURCES.items() if source.dispersion}
    assert known == {"liger-kernel-bench", "flashinfer-bench", "gpumode-kernelbot"}
    flashinfer = SOURCES["flashinfer-bench"].dispersion
    assert flashinfer is not None
    assert (flashinfer.entries, flashinfer.pairs) == (300, 494)
    assert flashinfer.p90_relative == pytest.approx(0.069, abs=0.0005)


def test_an_unknown_source_is_none() -> None:
    assert find_source("nowhere") is None
    assert find_source("liger-kernel-bench") is SOURCES["liger-kernel-bench"]
