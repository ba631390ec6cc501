from __future__ import annotations

from typing import Any

import pytest

from kernelindex.web.charts.chart import NARROW, WIDE, Frame, NotDrawn
from kernelindex.web.charts.cohort import Floor, cohort_chart
from kernelindex.web.charts.cohort_rows import rank_text
from kernelindex.web.charts.scales import ticks, value_extent
from tests.web.charts.factories import (
    LIGER,
    axis_titles,
    cohort,
    draw_cohort,
    drawn,
    entry,
    layers,
    plotted,
    record_pair,
    rows,
    words,
)

INTERVAL = (990_000.0, 1_010_000.0)


def scale_of(style: str, data: Any) -> dict[str, Any]:
    chart = draw_cohort(data)
    found = next(one for one in layers(chart) if one["mark"]["style"] == style)
    return dict(found["encoding"]["x"]["scale"])


@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_the_record_pair_is_hollow_on_a_log_axis(frame: Frame) -> None:
    chart = draw_cohort(record_pair(), frame)
    assert plotted(chart, "dot-hollow-lead", "value") == [5.751872]
    assert plotted(chart, "dot-hollow", "value") == [63.962017]
    assert plotted(chart, "dot-filled", "value") == []
    assert scale_of("dot-hollow", record_pair())["type"] == "log"
    assert axis_titles(chart) == {"latency, median (ms), log scale"}
    assert {"5.75", "63.96", "11.1x", "1.0x"} <= set(words(chart))


def test_within_ten_times_the_axis_starts_at_zero() -> None:
    data = cohort(LIGER, entry("b", 50_000_000.0, rank=(2, 2), ratio=8.7))
    scale = scale_of("dot-hollow", data)
    assert scale["type"] == "linear"
    assert scale["domain"][0] == 0.0
    assert axis_titles(draw_cohort(data)) == {"latency, median (ms), from zero"}


@pytest.mark.parametrize(
    ("level", "interval", "style", "ringed"),
    [
        ("reported", None, "dot-hollow-lead", False),
        ("verified", None, "dot-hollow-lead", False),
        ("reproducible", INTERVAL, "dot-half-lead", False),
        ("verified", INTERVAL, "dot-filled-lead", False),
        ("replicated", INTERVAL, "dot-filled-lead", True),
    ],
)
def test_trust_is_told_by_the_form_of_the_dot(
    level: str, interval: tuple[float, float] | None, style: str, ringed: bool
) -> None:
    chart = draw_cohort(cohort(entry(level=level, interval=interval)))
    assert plotted(chart, style, "value") == [1.0]
    assert (plotted(chart, "ring-lead", "value") == [1.0]) is ringed


def test_thick_is_the_interval_and_thin_the_published_spread() -> None:
    one = entry(interval=INTERVAL, spread=(900_000.0, 1_200_000.0), spread_kind="p5-p95")
    chart = draw_cohort(cohort(one))
    thick, thin = rows(chart, "interval-lead")[0], rows(chart, "spread")[0]
    assert (thick["low"], thick["high"]) == (0.99, 1.01)
    assert (thin["low"], thin["high"]) == (0.9, 1.2)
    assert "p5-p95, as published" in words(chart)


def test_the_band_reaches_as_far_as_the_tolerance() -> None:
    chart = draw_cohort(record_pair(tolerance=0.10))
    assert rows(chart, "band")[0]["low"] == 5.751872
    assert rows(chart, "band")[0]["high"] == pytest.approx(5.751872 * 1.1)
    assert "not distinguishable from the leader" in words(chart)


def test_the_band_holds_entries_that_are_not_told_apart() -> None:
    near = entry("near", 1_020_000.0, rank=(1, 2), told_apart=False)
    far = entry("far", 2_000_000.0, rank=(3, 3))
    band = rows(draw_cohort(cohort(entry(rank=(1, 2)), near, far)), "band")[0]
    assert (band["low"], band["high"]) == (1.0, 1.02)


def test_where_higher_is_better_the_band_reaches_down() -> None:
    data = cohort(
        entry(value=100.0),
        entry("b", 50.0, rank=(2, 2)),
        unit="x",
        direction="higher",
        tolerance=0.25,
    )
    band = rows(draw_cohort(data), "band")[0]
    assert (band["low"], band["high"]) == (80.0, 100.0)


def test_one_entry_has_no_band_and_is_called_only_result() -> None:
    chart = draw_cohort(cohort(entry(rank=None, ratio=None), tolerance=0.1))
    assert plotted(chart, "band", "low") == []
    assert "only" in words(chart)
    assert chart.alt == "Only one result: a, 1.00 ms. It has no interval."


def test_the_floor_says_which_it_is() -> None:
    chart = draw_cohort(record_pair(floor=Floor(1_562_000.0, "attainable")))
    assert plotted(chart, "floor", "floor") == [1.562]
    assert "attainable floor" in words(chart)
    assert plotted(draw_cohort(record_pair()), "floor-nominal", "floor") == [1.25]


def test_two_hundred_entries_are_eight_and_a_count() -> None:
    many = [entry(f"n{i}", 1e6 + i * 1e4, rank=(i + 1, i + 1)) for i in range(200)]
    chart = draw_cohort(cohort(*many))
    dots = plotted(chart, "dot-hollow", "value") + plotted(chart, "dot-hollow-lead", "value")
    assert len(dots) == 8
    assert "and 192 more, behind these" in words(chart)
    assert len(chart.table.rows) == 8
    assert draw_cohort(cohort(*many[:50], left_out=150)).digest == chart.digest


def test_entries_that_are_not_shown_need_not_be_behind() -> None:
    many = [entry(f"n{i}", 1e6 + i, rank=(1, 24), told_apart=False) for i in range(12)]
    chart = draw_cohort(cohort(*many, left_out=78, unbeaten=24))
    assert "and 82 more, 16 of them unbeaten too" in words(chart)
    assert chart.alt.startswith("24 of 90 entries are not told apart;")
    every = draw_cohort(cohort(*many, unbeaten=12))
    assert "and 4 more, unbeaten too" in words(every)
    assert every.alt.startswith("All 12 entries are not told apart;")


def test_no_entry_is_a_sentence_instead_of_a_drawing() -> None:
    assert cohort_chart(cohort()) == NotDrawn(
        "cohort", "No entry counts here, so there is nothing to draw."
    )


def test_the_words_name_the_leader_and_the_lack_of_intervals() -> None:
    assert draw_cohort(record_pair()).alt == (
        "Liger fused MoE leads 2 entries at 5.75 ms; the next, Loop over experts, is 11.1x "
        "behind. No value has an interval."
    )
    tied = [entry("a", rank=(1, 2)), entry("b", 1.01e6, rank=(1, 2))]
    assert draw_cohort(cohort(*tied)).alt.startswith("All 2 entries are not told apart")


def test_the_table_keeps_the_unrounded_numbers() -> None:
    table = draw_cohort(record_pair()).table
    row = dict(zip(table.columns, table.rows[1], strict=True))
    assert row["median (ns)"] == 63_962_017.0
    assert row["ratio to leader"] == 63_962_017 / 5_751_872
    assert "Loop over experts,1.0,2,2,63962017.0" in table.to_csv()


def test_a_formula_in_a_table_is_defused() -> None:
    assert "'=HYPERLINK(1)" in draw_cohort(cohort(entry("=HYPERLINK(1)"))).table.to_csv()


@pytest.mark.parametrize(
    ("rank", "tie", "said"),
    [((1, 1), None, "1"), ((1, 3), None, "1-3"), ((1, 2), 7, "1="), (None, None, "–")],
)
def test_rank_words(rank: tuple[int, int] | None, tie: int | None, said: str) -> None:
    one = entry(rank=rank, tie_group=tie)
    assert rank_text(one, [one, entry("b", rank=(1, 2), tie_group=7)]) == said


def test_a_tie_has_one_bracket_over_its_rows() -> None:
    tied = [entry(name, 1e6, rank=(1, 2), tie_group=1) for name in "ab"]
    bracket = rows(draw_cohort(cohort(*tied, entry("c", 2e6, rank=(3, 3)))), "bracket")
    assert next((row["y"], row["y2"]) for row in bracket) == (6, 70)


def test_extremes_keep_the_axis_finite() -> None:
    for values in ([1.0, 1e12], [0.0, 5.0], [-3.0, 8.0], [7.0], [0.0]):
        extent = value_extent(values)
        assert extent.low < extent.high
        assert all(extent.low <= tick <= extent.high for tick in ticks(extent))
    spread = entry(spread=(0.0, 2e6), spread_kind="p5-p95")
    chart = draw_cohort(cohort(spread, entry("b", 2e7, rank=(2, 2))))
    assert rows(chart, "spread")[0]["low"] > 0


def test_the_same_content_has_the_same_digest_and_other_content_another() -> None:
    assert draw_cohort(record_pair()).digest == draw_cohort(record_pair()).digest
    other = [record_pair(title="x"), record_pair(source="x"), record_pair(tolerance=0.2)]
    digests = {drawn(cohort_chart(data)).digest for data in (record_pair(), *other)}
    assert len(digests) == 4
    assert draw_cohort(record_pair(), NARROW).digest not in digests
