from __future__ import annotations

import pytest

from kernelindex.policy.peaks import accusing_peak, shown_peak
from kernelindex.registry.hardware import load_products
from tests.policy.factories import make_product

TERA = 1e12
PRODUCT = make_product(
    peaks_flops={
        "fp64": 50 * TERA,
        "fp32": 60 * TERA,
        "tf32": 500 * TERA,
        "bf16": 1000 * TERA,
        "fp16": 1000 * TERA,
        "fp8_e4m3fn": 2000 * TERA,
        "int8": 2000 * TERA,
    }
)


@pytest.mark.parametrize(
    ("dtypes", "peak", "name"),
    [
        (["bf16", "int32"], 1000, "bf16"),
        (["fp32"], 500, "tf32"),
        (["fp64"], 50, "fp64"),
        (["bf16", "fp32"], 1000, "bf16"),
        (["fp8_e4m3fn", "fp8_e8m0", "bf16"], 2000, "fp8_e4m3fn"),
        (["fp8_e4m3", "fp32"], 2000, "fp8_e4m3fn"),
        (["int8", "fp32"], 2000, "int8"),
    ],
)
def test_the_shown_peak_is_that_of_the_fastest_stated_dtype(
    dtypes: list[str], peak: float, name: str
) -> None:
    assert shown_peak(dtypes, PRODUCT) == (peak * TERA, name)


@pytest.mark.parametrize("dtypes", [["uint8", "fp32"], ["mystery", "bf16"], ["int64"], []])
def test_bytes_that_may_pack_anything_have_no_shown_peak(dtypes: list[str]) -> None:
    assert shown_peak(dtypes, PRODUCT) is None


@pytest.mark.parametrize(
    ("dtypes", "peak"),
    [
        (["bf16"], 1000),
        (["fp32"], 500),
        (["uint8", "fp32"], 2000),
        (["mystery"], 2000),
        (["fp64"], 50),
    ],
)
def test_an_accusation_rests_on_the_fastest_honest_rate(dtypes: list[str], peak: float) -> None:
    assert accusing_peak(dtypes, PRODUCT) == peak * TERA


def test_fp16_may_accumulate_in_fp16_on_consumer_cards() -> None:
    card = load_products()["rtx-4090"]
    shown = shown_peak(["fp16"], card)
    accusing = accusing_peak(["fp16"], card)
    assert shown is not None
    assert accusing is not None
    assert accusing == pytest.approx(2 * shown[0], rel=0.01)


def test_indexes_alone_accuse_nobody() -> None:
    assert accusing_peak(["int64"], PRODUCT) is None
    assert accusing_peak(["bf16"], make_product(peaks_flops={})) is None
