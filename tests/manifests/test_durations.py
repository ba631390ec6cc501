from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.manifests.durations import duration_ns

UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("8.12 ms", 8_120_000),
        ("0.0079 ms", 7_900),
        ("1.005 ms", 1_005_000),
        ("2.1 us", 2_100),
        ("2.1 µs", 2_100),
        ("2.1 μs", 2_100),
        ("1 s", 1_000_000_000),
        ("007.50 us", 7_500),
        ("1.0 ns", 1),
        ("0 s", 0),
    ],
)
def test_exact_durations(text: str, nanoseconds: int) -> None:
    assert duration_ns(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "0.0000005 ms", "0.5 ns", "8.12ms", "8.12  ms", " 8 ms", "8 ms ", "-1 ms", "+1 ms",
        "1e3 ns", ".5 ms", "5. ms", "1,5 ms", "1 m", "1 MS", "ms", "", "8", "١ ms",
        "1" * 70 + " ns", "1 ns\n",
    ],
)  # fmt: skip
def test_what_is_not_an_exact_duration(text: str) -> None:
    assert duration_ns(text) is None


@given(st.decimals(0, 10**9, places=9), st.sampled_from(sorted(UNITS)))
def test_durations_agree_with_decimal_arithmetic(number: Decimal, unit: str) -> None:
    exact = number * UNITS[unit]
    expected = int(exact) if exact == exact.to_integral_value() else None
    assert duration_ns(f"{number:f} {unit}") == expected
