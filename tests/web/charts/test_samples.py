from __future__ import annotations

import pytest

from kernelindex.web.charts.chart import NotDrawn
from kernelindex.web.charts.ecdf import EcdfInput, SampleSet, curve_of, ecdf_chart
from kernelindex.web.charts.samples import Generation, SamplesInput, samples_chart, thin_samples
from tests.web.charts.factories import drawn, layers, plotted, rows, words


def samples(*generations: Generation) -> SamplesInput:
    return SamplesInput(
        title="All samples",
        setting="H200",
        source="Source: here.",
        metric="latency",
        unit="ns",
        generations=generations,
    )


def test_a_strip_a_generation_in_time_order_with_the_clock_beneath() -> None:
    first = Generation(values=(1e6, 3e6, 2e6), clock_mhz=(1980.0, 1500.0, 1700.0))
    second = Generation(values=(4e6, 5e6, 6e6), clock_mhz=(1900.0, 1900.0, 1900.0))
    chart = drawn(samples_chart(samples(first, second)))
    dots = [row for row in rows(chart, "sample") if row["y"] < 10]
    assert [row["y"] for row in dots] == [1.0, 3.0, 2.0, 4.0, 5.0, 6.0]
    assert [row["x"] for row in dots] == sorted(row["x"] for row in dots)
    assert plotted(chart, "clock", "clock") == [1980.0, 1500.0, 1700.0, 1900.0, 1900.0]
    assert [row["y"] for row in rows(chart, "median")][:2] == [2.0, 5.0]
    clock = next(one for one in layers(chart) if one["mark"]["style"] == "clock")
    assert clock["encoding"]["y"]["scale"]["range"][1] > 180


def test_without_clocks_the_words_say_so() -> None:
    chart = drawn(samples_chart(samples(Generation(values=(9000.0, 9100.0)))))
    assert "SM clock" not in words(chart)
    assert chart.alt == "2 samples in 1 generation, median 9.05 µs."
    assert chart.table.columns == ("generation", "sample", "latency (ns)")


def test_many_samples_keep_their_extremes_and_the_table_keeps_all() -> None:
    values = [1000.0 + index % 7 for index in range(10_000)]
    values[4321], values[8765] = 5000.0, 1.0
    chart = drawn(samples_chart(samples(Generation(values=tuple(values)))))
    dots = [row["y"] for row in rows(chart, "sample") if "y" in row]
    assert len(dots) <= 901
    assert max(dots[:-1]) == 5.0 or max(dots) >= 5.0
    assert len(chart.table.rows) == 10_000


def test_thinning_keeps_the_lowest_and_highest_of_each_stretch() -> None:
    assert thin_samples([5, 1, 9, 5], 8) == [0, 1, 2, 3]
    assert thin_samples([5, 1, 9, 5, 2, 2, 8, 0], 4) == [1, 2, 6, 7]


def test_no_samples_is_a_sentence() -> None:
    assert isinstance(samples_chart(samples(Generation(values=()))), NotDrawn)


def ecdf(first: tuple[float, ...], second: tuple[float, ...]) -> EcdfInput:
    return EcdfInput(
        title="a against b",
        setting="H200",
        source="Source: here.",
        metric="latency",
        unit="ns",
        first=SampleSet("a", first),
        second=SampleSet("b", second),
    )


def test_shares_rise_to_one_and_medians_are_dots() -> None:
    chart = drawn(ecdf_chart(ecdf((3e6, 1e6, 2e6), (4e6, 6e6, 5e6))))
    curve = [(row["x"], row["y"]) for row in rows(chart, "curve-lead") if row["y"] <= 1]
    assert curve == [(1.0, 0.0), (1.0, 1 / 3), (2.0, 2 / 3), (3.0, 1.0)]
    assert plotted(chart, "dot-filled-lead", "x") == [2.0]
    assert chart.alt == (
        "Medians: a 2.00 ms, b 5.00 ms (2.50x). The ranges of their samples do not overlap."
    )


def test_long_curves_are_bounded_and_keep_their_ends() -> None:
    curve = curve_of([float(value) for value in range(10_000)], most=100)
    assert len(curve) == 102
    assert curve[0] == (0.0, 0.0)
    assert curve[-1] == (9999.0, 1.0)


@pytest.mark.parametrize(("first", "second"), [((), (1.0,)), ((1.0,), ())])
def test_both_sides_are_needed(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    assert isinstance(ecdf_chart(ecdf(first, second)), NotDrawn)
