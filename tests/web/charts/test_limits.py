from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kernelindex.web.charts.chart import NARROW, WIDE, Frame, NotDrawn
from kernelindex.web.charts.limit_bar import limit_chart, parts_of
from kernelindex.web.charts.roofline import (
    Roof,
    RooflineInput,
    RooflinePoint,
    roof_at,
    roofline_chart,
)
from kernelindex.web.charts.text import text_width
from tests.web.charts.factories import drawn, limit, plotted, rows, words


@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_floor_gap_and_rest_add_up_to_the_run(frame: Frame) -> None:
    chart = drawn(limit_chart(limit(), frame))
    ends = {
        style: next((r["low"], r["high"]) for r in rows(chart, style) if "low" in r)
        for style in ("bar-floor", "bar-gap", "bar-rest")
    }
    assert ends == {"bar-floor": (0.0, 1.0), "bar-gap": (1.0, 1.5), "bar-rest": (1.5, 5.0)}
    assert plotted(chart, "floor-nominal", "floor") == [1.0]
    assert plotted(chart, "floor", "floor") == [1.5]
    assert {"20 % of nominal", "30 % of attainable", "run 5.00 ms"} <= set(words(chart))


def test_no_mark_runs_through_the_words_of_another() -> None:
    chart = drawn(limit_chart(limit(nominal=1_100_000.0, attainable=1_300_000.0), NARROW))
    marks = [
        (row["floor"], row["y"])
        for style in ("floor", "floor-nominal")
        for row in rows(chart, style)
        if "floor" in row
    ]
    width = chart.spec["width"]
    for row in (one for one in rows(chart, "mark-label") if "%" in one["text"]):
        end = row["x"] + text_width(row["text"], 10.5)
        for floor, top in marks:
            place = floor / 5.1 * width
            assert not (row["x"] < place < end and row["y"] > top), row["text"]


def test_without_a_measured_peak_the_words_say_so() -> None:
    chart = drawn(limit_chart(limit(attainable=None)))
    assert plotted(chart, "floor", "floor") == []
    assert chart.alt.endswith("No attainable peak was measured on this device.")


def test_faster_than_the_floor_is_called_wrong() -> None:
    data = limit(value=900_000.0, attainable=None)
    assert parts_of(data) == (("beyond", 0.0, 900_000.0),)
    assert "faster than the nominal floor" in drawn(limit_chart(data)).alt


@pytest.mark.parametrize("changes", [{"nominal": None, "attainable": None}, {"value": 0.0}])
def test_without_a_limit_there_is_a_sentence(changes: dict[str, Any]) -> None:
    assert isinstance(limit_chart(limit(**changes)), NotDrawn)


ROOF = Roof(nominal_tflops=1000.0, nominal_tbps=5.0, attainable_tflops=800.0, attainable_tbps=4.0)


def roofline(*points: RooflinePoint) -> RooflineInput:
    return RooflineInput(
        title="Roofline",
        setting="forward",
        source="Source: here.",
        peak="bf16 dense",
        roof=ROOF,
        points=points,
    )


def test_the_roof_bends_where_memory_meets_compute() -> None:
    assert roof_at(ROOF.nominal, 100.0) == 500.0
    assert roof_at(ROOF.nominal, 200.0) == 1000.0
    assert roof_at(ROOF.nominal, 900.0) == 1000.0
    slow = RooflinePoint(name="slow", intensity=50.0, tflops=20.0)
    fast = RooflinePoint(name="fast", intensity=900.0, tflops=600.0, verified=True)
    chart = drawn(roofline_chart(roofline(slow, fast)))
    assert {(row["x"], row["y"]) for row in rows(chart, "curve")} >= {(200.0, 1000.0)}
    assert {(row["x"], row["y"]) for row in rows(chart, "curve-attainable")} >= {(200.0, 800.0)}
    assert plotted(chart, "dot-filled-lead", "y")[0] == 600.0
    assert plotted(chart, "dot-hollow", "y")[0] == 20.0
    assert chart.alt == (
        "fast is fastest of 2 at 600 TFLOP/s, 60 % of the nominal roof; "
        "there the compute roof binds."
    )


def test_only_some_of_many_points_are_drawn() -> None:
    points = [RooflinePoint(name=f"n{i}", intensity=10.0, tflops=1.0 + i) for i in range(40)]
    chart = drawn(roofline_chart(roofline(*points)))
    assert "and 16 slower, not drawn" in words(chart)
    assert len(chart.table.rows) == 40


def test_no_point_is_a_sentence() -> None:
    assert isinstance(roofline_chart(roofline()), NotDrawn)


def test_of_some_groups_nothing_is_said_of_all() -> None:
    point = RooflinePoint(name="a", intensity=50.0, tflops=100.0)
    some = drawn(roofline_chart(replace(roofline(point), partial=True)))
    assert some.alt.startswith("a is fastest of 1 drawn at 100 TFLOP/s")
    assert drawn(roofline_chart(roofline(point))).alt.startswith("a is fastest of 1 at 100")
