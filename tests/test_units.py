"""Exact conversion, and numbers for people."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex import units
from tests.support.shared import shared_path


@pytest.mark.parametrize(
    ("text", "unit", "ns"),
    [
        ("0.0071680000983178616", "ms", 7168),
        ("63.96201705932617", "ms", 63_962_017),
        ("5.7518720626831055", "ms", 5_751_872),
        ("8.12", "ms", 8_120_000),
        ("79544", "ns", 79_544),
        ("1.00486582e-05", "s", 10_049),
        ("2.1", "us", 2_100),
        ("2.1", "µs", 2_100),
        ("0.5", "ns", 0),
        ("1.5", "ns", 2),
        (0.1, "ms", 100_000),
        (Decimal("0.1"), "s", 100_000_000),
        ("-1.0", "ms", -1_000_000),
    ],
)
def test_durations(text: str | float | Decimal, unit: str, ns: int) -> None:
    assert units.to_ns(text, unit) == ns


@pytest.mark.parametrize(
    "text", ["", " ", "nan", "NaN", "inf", "-Infinity", "fast", "1_000", "1e999", "٣", "1 2"]
)
def test_what_is_no_number_has_no_duration(text: str) -> None:
    assert units.to_ns(text, "ms") is None
    assert units.parse_number(text) is None


def test_an_unknown_unit_is_a_bug() -> None:
    with pytest.raises(KeyError):
        units.to_ns("1", "fortnight")


@given(st.integers(min_value=0, max_value=10**15))
def test_ns_survive_every_unit(ns: int) -> None:
    for unit, factor in units.NS_PER_UNIT.items():
        assert units.to_ns(Decimal(ns) / factor, unit) == ns


def test_sizes() -> None:
    assert units.to_bytes("5569.384765625", "MiB") == 5_839_923_200
    assert units.to_bytes("1", "MB") == 10**6
    assert units.to_bytes("80", "GiB") == 85_899_345_920
    assert units.to_bytes("nan", "MiB") is None


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("8.12 ms", 8_120_000),
        ("0.0079 ms", 7_900),
        ("1 s", 1_000_000_000),
        ("0.0000005 ms", None),
        ("8.12", None),
        ("8.12  ms", None),
        ("1e3 ns", None),
        ("-1 ns", None),
        ("8.1.2 ms", None),
        ("5 min", None),
    ],
)
def test_exact_durations(text: str, ns: int | None) -> None:
    assert units.exact_duration_ns(text) == ns


def test_shared_edge_case_e13() -> None:
    wanted = json.loads(shared_path("edge-cases/E13-durations.json").read_text())
    for text, expected in wanted.items():
        assert units.exact_duration_ns(text) == (None if expected == "reject" else expected)


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (5_751_872, 4, "5.752 ms"),
        (63_962_017, 3, "64.0 ms"),
        (7168, 4, "7.168 µs"),
        (832, 4, "832.0 ns"),
        (999_960, 4, "1.000 ms"),
        (999_940, 4, "999.9 µs"),
        (0.3, 2, "0.30 ns"),
        (0, 4, "0 ns"),
        (-700_000, 2, "-700 µs"),
        (2.5e12, 3, "2,500 s"),
    ],
)
def test_durations_for_people(value: float, digits: int, shown: str) -> None:
    assert units.format_duration_ns(value, digits) == shown


def test_sizes_and_rates_for_people() -> None:
    assert units.format_bytes(5_839_923_200) == "5.44 GiB"
    assert units.format_bytes(1.61e9, binary=False) == "1.61 GB"
    assert units.format_bytes(0) == "0 B"
    assert units.format_flops(618_475_290_624) == "618.5 GFLOP"
    assert units.format_flops(215.05e12, 3, per_second=True) == "215 TFLOP/s"
    assert units.format_percent(0.2173) == "22 %"
    assert units.format_percent(0.003) == "0.30 %"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1.000×"),
        (1.003, "1.003×"),
        (1.0996, "1.10×"),
        (1.18, "1.18×"),
        (9.996, "10.0×"),
        (11.1201, "11.1×"),
        (250.4, "250×"),
        (12345.0, "12,345×"),
        (0.5, "0.500×"),
    ],
)
def test_ratios_for_people(value: float, shown: str) -> None:
    assert units.format_ratio(value) == shown
