from __future__ import annotations

from datetime import date
from typing import Any

from kernelindex.web.charts.chart import NotDrawn
from kernelindex.web.charts.staircase import RecordStep, records_chart, spans_of
from tests.web.charts.factories import drawn, records, rows, words


def step(month: int, leader: str | None, value: float | None, **more: Any) -> RecordStep:
    return RecordStep(date=date(2026, month, 1), leader=leader, value=value, **more)


HISTORY = (
    step(1, "old", 4e6, level="reported"),
    step(3, "wrong", 1e6, level="reproducible"),
    step(4, "old", 4e6, level="reported", retracts=True),
    step(6, "new", 2e6, level="verified"),
)


def test_each_leader_stands_until_the_next_change() -> None:
    spans = spans_of(HISTORY, date(2026, 9, 1))
    assert [(s.name, s.start.month, s.end.month, s.struck) for s in spans] == [
        ("old", 1, 3, False),
        ("wrong", 3, 4, True),
        ("old", 4, 6, False),
        ("new", 6, 9, False),
    ]
    assert [s.is_open for s in spans] == [False, False, False, True]


def test_the_level_is_the_style_of_the_line() -> None:
    chart = drawn(records_chart(records(*HISTORY)))
    counts = {
        style: len([row for row in rows(chart, f"step-{style}") if row["y"] < 220])
        for style in ("reported", "reproducible", "verified")
    }
    assert counts == {"reported": 2, "reproducible": 1, "verified": 1}
    assert rows(chart, "step-replicated") == []


def test_a_retracted_record_is_struck_through() -> None:
    chart = drawn(records_chart(records(*HISTORY)))
    assert "wrong, retracted" in words(chart)
    assert len(rows(chart, "strike")) == 4  # the dot, the name, the value, the key
    assert "1 of them was retracted" in chart.alt


def test_nobody_leading_alone_is_a_gap() -> None:
    spans = spans_of((*HISTORY, step(8, None, None)), date(2026, 9, 1))
    assert spans[-1].name == "new"
    assert not spans[-1].is_open
    chart = drawn(records_chart(records(*HISTORY, step(8, None, None))))
    assert chart.alt.startswith("Nobody leads alone now; new did last, at 2.00 ms")


def test_one_change_is_drawn_and_no_day_is_invented() -> None:
    chart = drawn(records_chart(records(HISTORY[0], until=date(2026, 1, 1))))
    assert chart.alt == "old leads since 2026-01-01 at 4.00 ms, the only leader so far."


def test_changes_without_a_date_are_counted() -> None:
    undated = RecordStep(date=None, leader="when", value=1e6)
    chart = drawn(records_chart(records(*HISTORY, undated)))
    assert "1 changes without a date" in words(chart)
    assert chart.table.rows[-1][0] is None
    assert records_chart(records(undated)) == NotDrawn(
        "records", "No change of leader with a date is known here."
    )


def test_long_histories_are_cut_from_the_start() -> None:
    many = [
        RecordStep(date=date(1990 + i, 1, 1), leader=f"n{i}", value=1e9 / (i + 1))
        for i in range(40)
    ]
    chart = drawn(records_chart(records(*many)))
    assert "16 earlier changes are not drawn" in words(chart)
    assert "n39" in words(chart)
    assert len(chart.table.rows) == 40
