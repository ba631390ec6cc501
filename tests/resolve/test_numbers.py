from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.resolve.numbers import (
    digits_for,
    ratio_text,
    scale_for,
    signed_time,
    significant,
    spaced_percent,
)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (5751872, "ns", "5.75 ms"),
        (63962017, "ns", "64.0 ms"),
        (999.6, "ns", "1.00 µs"),
        (7168, "ns", "7.17 µs"),
        (12, "ns", "12.0 ns"),
        (2.5e9, "ns", "2.50 s"),
        (1.0048658277929109e-05, "s", "10.0 µs"),
        (9.07e-3, "s", "9.07 ms"),
        (3.19 * 2**30, "bytes", "3.19 GiB"),
        (0.5, "ratio", "0.500"),
        (12345, "requests", "12,300 requests"),
    ],
)
def test_a_value_is_shown_in_its_unit_with_three_digits(
    value: float, unit: str, shown: str
) -> None:
    assert scale_for([value], unit).with_unit(value) == shown


def test_a_table_has_the_unit_of_its_smallest_value() -> None:
    scale = scale_for([5751872, 639620170], "ns")
    assert [scale.show(value) for value in (5751872, 639620170)] == ["5.75", "640"]


@pytest.mark.parametrize(
    ("half_width", "shown"),
    [(None, "5.75"), (1000, "5.752"), (10_000, "5.75"), (100_000, "5.8"), (3e6, "5.8")],
)
def test_an_interval_sets_the_digits(half_width: float | None, shown: str) -> None:
    assert scale_for([5751872], "ns").show(5751872, half_width) == shown


@given(st.floats(1e-3, 1e15), st.integers(2, 6))
def test_significant_digits_keep_the_value(value: float, digits: int) -> None:
    shown = float(significant(value, digits).replace(",", ""))
    assert shown == pytest.approx(value, rel=0.6 * 10 ** (1 - digits))


@given(st.floats(1.0, 1e12), st.floats(1e-3, 1e12))
def test_digits_stay_between_two_and_six(value: float, half_width: float) -> None:
    assert 2 <= digits_for(value, half_width) <= 6


@pytest.mark.parametrize(
    ("ratio", "shown"), [(1.003, "1.003x"), (1.18, "1.18x"), (11.12, "11.1x"), (250.4, "250x")]
)
def test_ratios_have_the_digits_that_matter(ratio: float, shown: str) -> None:
    assert ratio_text(ratio) == shown


@pytest.mark.parametrize(
    ("shift_ns", "beside_ns", "shown"),
    [(702_000, 5_751_872, "+0.70 ms"), (702_000, None, "+700 µs"), (-40, 900, "-40 ns")],
)
def test_a_shift_has_sign_and_the_unit_beside_it(
    shift_ns: float, beside_ns: float | None, shown: str
) -> None:
    assert signed_time(shift_ns, beside_ns) == shown


def test_percent_is_written_one_way_in_a_sentence() -> None:
    said = "within 5% of the rerun (the least tolerance, 5 %), 23.7% of 7"
    assert spaced_percent(said) == "within 5 % of the rerun (the least tolerance, 5 %), 23.7 % of 7"
