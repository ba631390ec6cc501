from __future__ import annotations

import itertools

import pytest

from kernelindex.web.charts.chart import NARROW, WIDE, Frame, NotDrawn
from kernelindex.web.charts.labels import spread_labels
from kernelindex.web.charts.sweep import sweep_chart
from kernelindex.web.charts.sweep_points import Crossover, find_crossovers, ratios_of, runs_of
from tests.web.charts.factories import drawn, layers, line, plotted, rows, sweep, words

LIGER = line("Liger · fused", {8: 5.0, 16: 5.0, 64: 5.0, 128: 6.0})
LOOP = line("loop · experts", {8: 7.0, 16: 11.5, 64: 55.5, 128: 180.0})


@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_heights_are_ratios_to_the_best_at_each_size(frame: Frame) -> None:
    chart = drawn(sweep_chart(sweep(LIGER, LOOP), frame))
    assert plotted(chart, "dot-hollow-lead", "y")[:4] == [1.0, 1.0, 1.0, 1.0]
    loop = [row for row in rows(chart, "dot-hollow") if row["x"] in {8, 16, 64, 128}]
    assert [row["y"] for row in loop] == pytest.approx([1.4, 2.3, 11.1, 30.0])


def test_the_axis_of_sizes_is_log2_at_measured_sizes_only() -> None:
    chart = drawn(sweep_chart(sweep(LIGER, LOOP)))
    x = next(one for one in layers(chart) if one["mark"]["type"] == "line")["encoding"]["x"]
    assert (x["scale"]["type"], x["scale"]["base"]) == ("log", 2)
    assert x["axis"]["values"] == [8, 16, 64, 128]


def test_neighbours_are_joined_and_a_gap_is_left_where_nothing_ran() -> None:
    holed = line("holed", {8: 6.0, 16: 6.0, 128: 9.0})
    chart = drawn(sweep_chart(sweep(LIGER, holed)))
    lines = [one for one in layers(chart) if one["mark"]["style"] == "series"]
    drawn_lines = [one for one in lines if one["mark"]["type"] == "line"]
    assert [[row["x"] for row in one["data"]["values"]] for one in drawn_lines] == [[8, 16]]


def test_runs_are_cut_at_missing_sizes() -> None:
    assert runs_of([1, 2, 8], [1, 2, 4, 8]) == [[1, 2], [8]]
    assert runs_of([], [1, 2]) == []


def test_a_change_of_lead_is_marked_between_two_measured_sizes() -> None:
    early = line("early", {8: 1.0, 16: 1.0, 32: 2.0})
    late = line("late", {8: 2.0, 16: 1.02, 32: 1.0})
    chart = drawn(sweep_chart(sweep(early, late)))
    band = rows(chart, "change")[0]
    assert (band["low"], band["high"]) == (8, 32)
    assert "the lead changes: early up to 8, late from 32" in words(chart)
    assert "the lead changes: early up to 8, late from 32" in chart.alt


def test_a_lead_inside_the_tolerance_changes_nothing() -> None:
    lines = [line("a", {8: 1.0, 16: 1.04}), line("b", {8: 1.04, 16: 1.0})]
    assert find_crossovers(lines, ratios_of(lines, higher=False), 0.05) == []
    assert find_crossovers(lines, ratios_of(lines, higher=False), 0.01) == [
        Crossover(8, 16, "a", "b")
    ]


def test_a_leader_that_was_not_measured_before_is_no_crossover() -> None:
    lines = [line("a", {8: 1.0, 16: 2.0}), line("b", {8: 2.0, 16: 3.0}), line("c", {16: 1.0})]
    assert find_crossovers(lines, ratios_of(lines, higher=False), 0.05) == []


def test_where_higher_is_better_the_largest_is_one() -> None:
    assert ratios_of([line("a", {8: 50.0}), line("b", {8: 100.0})], higher=True) == [
        {8: 2.0},
        {8: 1.0},
    ]


def test_verified_points_are_filled() -> None:
    chart = drawn(sweep_chart(sweep(LIGER, line("v", {8: 9.0, 16: 9.0}, verified=True))))
    assert [row["x"] for row in rows(chart, "dot-filled") if "y" in row][:2] == [8, 16]
    assert "measured, verified" in words(chart)


def test_more_than_six_lines_are_six_and_a_count() -> None:
    lines = [line(f"n{i}", {8: 1.0 + i, 16: 1.0 + i}) for i in range(9)]
    chart = drawn(sweep_chart(sweep(*lines)))
    assert "and 3 more, not drawn" in words(chart)
    assert "n8" not in words(chart)
    assert len(chart.table.rows) == 18


@pytest.mark.parametrize("lines", [[], [line("a", {8: 1.0})], [line("a", {8: -1.0, 16: 0.0})]])
def test_fewer_than_two_sizes_are_no_sweep(lines: list[object]) -> None:
    found = sweep_chart(sweep(*lines))  # type: ignore[arg-type]
    assert found == NotDrawn("sweep", "experts was measured at one size at most.")


def test_one_line_alone_says_that_nothing_compares() -> None:
    assert "nothing to compare it with" in drawn(sweep_chart(sweep(LIGER))).alt


def test_labels_keep_their_distance_and_stay_inside() -> None:
    places = spread_labels([10, 10, 11, 90], 12, 0, 100)
    ordered = sorted(places)
    assert all(b - a >= 12 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert 0 <= ordered[0] <= ordered[-1] <= 100
    assert spread_labels([5.0, 50.0], 10, 0, 100) == [5.0, 50.0]
