from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.sources.liger.numbers import to_bytes, to_ns, whole_number


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0.0071680000983178616", 7168),
        ("0.007942399941384792", 7942),
        ("5.7518720626831055", 5_751_872),
        ("63.96201705932617", 63_962_017),
        ("8.12", 8_120_000),
        ("1e-3", 1000),
        ("2E2", 200_000_000),
        ("0.0000005", 0),
        ("0.0000015", 2),
    ],
)
def test_milliseconds_round_to_whole_ns(text: str, ns: int) -> None:
    assert to_ns(text) == (ns or None)


@pytest.mark.parametrize(
    "text",
    ["", "nan", "inf", "-1", "+1", "0", "0.0", "1e400", "1e99", "0x10", "1_0", "٣", "1,5"],
)
def test_what_is_no_sane_positive_number_is_none(text: str) -> None:
    assert to_ns(text) is None
    assert to_bytes(text) is None


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1_048_576), ("25.00439453125", 26_219_008), ("0.5", 524_288)]
)
def test_their_mb_is_mib(text: str, size: int) -> None:
    assert to_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "number"),
    [("4096", 4096), ("4096.0", 4096), (" 8 ", 8), ("0", 0), ("8.5", None), ("LLAMA_3_8B", None)],
)
def test_swept_values_are_whole(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@given(st.floats(min_value=2**-16, max_value=2**20, width=32))
def test_rounding_is_exact_for_every_float32(value: float) -> None:
    exact = Fraction(repr(value)) * 10**6
    found = to_ns(repr(value))
    assert found is not None
    assert abs(found - exact) <= Fraction(1, 2)


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_none(text: str) -> None:
    assert to_ns(text) is None or isinstance(to_ns(text), int)
    assert whole_number(text) is None or isinstance(whole_number(text), int)
