"""One column: the same decimals for all numbers of a unit, and no digits that nobody has."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.cli.main import main
from kernelindex.resolve import ask_text
from kernelindex.resolve.columns import (
    Number,
    Stored,
    number_of,
    shared_decimals,
    show_column,
    show_digits,
    show_intervals,
    show_ratios,
    show_with_units,
)
from kernelindex.web.rows import build_rows
from tests.support import shipped

FORWARD = (
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16"
    " gpu:H200 pass:forward source:kernelindex-runner"
)


def within(value: float, half: float) -> Number:
    return number_of(value, (value - half, value + half))


def decimals(text: str) -> int:
    return len(text.strip().rstrip("x").partition(".")[2])


def test_numbers_of_one_column_have_the_decimals_of_the_narrowest_interval() -> None:
    column = [within(1.04, 0.01), within(1.0277, 0.0015), within(1.76, 0.03)]
    assert show_column(column) == ["1.040", "1.028", "1.760"]
    assert show_intervals(column) == ["1.030-1.050", "1.026-1.029", "1.730-1.790"]


def test_a_wide_one_takes_a_digit_from_few_so_that_all_are_alike() -> None:
    column = [within(1.09, 0.02), within(1.0994, 0.009), within(1.1, 0.17), within(1.9, 0.02)]
    assert show_column(column) == ["1.09", "1.10", "1.10", "1.90"]
    assert show_intervals(column) == ["1.07-1.11", "1.09-1.11", "0.93-1.27", "1.88-1.92"]


def test_but_not_from_most_of_them() -> None:
    column = [within(2.98, 0.02), within(2.93, 0.01), within(5.91, 0.03), within(71.2, 3.0)]
    assert show_column(column) == ["2.98", "2.93", "5.91", "71.2"]


def test_and_no_interval_closes_for_it() -> None:
    column = [within(1.028, 0.001), within(1.21, 0.2), within(1.3, 0.2)]
    assert show_column(column) == ["1.028", "1.21", "1.30"]
    assert show_intervals(column)[0] == "1.027-1.029"


def test_without_intervals_nobody_loses_one_of_three_digits() -> None:
    assert show_digits([5.751872, 63.962017]) == ["5.75", "63.96"]
    assert show_digits([211.3, 192.4, 22.42, None]) == ["211.3", "192.4", "22.4", ""]
    assert show_digits([5.751872, 640.123, 12345.6]) == ["5.75", "640.1", "12,300"]
    assert show_digits([0.0, 2.5]) == ["0.00", "2.50"]
    assert show_digits([60.2, 2.41], 2) == ["60.2", "2.4"]


def test_the_leader_s_own_ratio_has_the_decimals_of_the_others() -> None:
    assert show_ratios([1.0, 0.9884, 1.6861, None]) == ["1.000x", "0.988x", "1.686x", ""]
    assert show_ratios([1.0, 11.12]) == ["1.0x", "11.1x"]
    assert show_ratios([1.0]) == ["1x"]


def test_numbers_of_different_units_are_not_held_to_each_other() -> None:
    found = show_with_units(
        [
            Stored(1.04e6, "ns", (1.03e6, 1.05e6)),
            None,
            Stored(1.0277e6, "ns", (1.0262e6, 1.0292e6)),
            Stored(640.3e3, "ns"),
            Stored(4 * 2**30, "bytes"),
            Stored(0.5, "ratio"),
        ]
    )
    assert found == ["1.040 ms", "", "1.028 ms", "640 µs", "4.00 GiB", "0.500"]


@given(
    st.lists(
        st.tuples(st.floats(1e-2, 1e4), st.floats(1e-4, 0.4)).map(
            lambda pair: within(pair[0], pair[0] * pair[1])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_no_number_shows_over_one_digit_more_than_its_interval_carries(
    column: list[Number],
) -> None:
    shared = shared_decimals(column)
    carried = [one.carries for one in column]
    for one, text in zip(column, show_column(column), strict=True):
        assert one.carries is not None
        assert decimals(text) <= max(0, one.carries + 1)
        assert decimals(text) == max(0, shared) or one.carries + 1 < shared
    if max(carried) - min(carried) <= 1:
        assert len({decimals(text) for text in show_column(column)}) == 1
        assert shared == max(carried)


@pytest.fixture(scope="module")
def groups() -> list:
    return [one for one in ask_text(shipped.shipped(), FORWARD).cohorts if len(one.entries) > 2]


def test_columns_on_a_page_are_alike_unless_an_interval_is_a_hundred_times_wider(groups) -> None:
    assert len(groups) >= 3
    for cohort in groups:
        rows = build_rows(cohort).rows[:5]
        shown = [re.sub("<i>.*</i>", "", str(row.value)) for row in rows]
        assert len(set(map(decimals, shown))) == 1, shown


def test_a_terminal_shows_the_same_numbers(
    groups, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KI_DB", shipped.shipped_url())
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["resolve", *FORWARD.split(), "--full"]) == 0
    printed = capsys.readouterr().out
    for cohort in groups:
        for row in build_rows(cohort).rows[:5]:
            value = re.sub("<i>.*</i>", "", str(row.value))
            assert re.search(rf"^{row.rank} .* {re.escape(value)} ", printed, re.MULTILINE), value
