from __future__ import annotations

import pytest

from kernelindex.runner.probe.trace import Span, busy_us, own_spans, read_spans, share_by_name


def test_only_complete_events_of_the_device_count() -> None:
    events = [
        {"ph": "X", "cat": "kernel", "name": "b", "ts": 5, "dur": 2},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 9},
        {"ph": "M", "name": "process_name"},
        {"ph": "X", "cat": "gpu_memset", "name": "a", "ts": 1, "dur": 1},
    ]
    spans = read_spans(events, frozenset({"kernel", "gpu_memset"}))
    assert [(one.name, one.start) for one in spans] == [("a", 1.0), ("b", 5.0)]


def test_busy_time_is_the_union() -> None:
    spans = [Span("a", 0, 10), Span("b", 5, 10), Span("c", 20, 5), Span("d", 21, 1)]
    assert busy_us(spans) == 20.0
    assert busy_us([]) == 0.0


def test_shares_add_up_and_launches_are_counted() -> None:
    rows = share_by_name([Span("a", 0, 1), Span("b", 2, 6), Span("a", 9, 1)])
    assert rows == [
        {"name": "b", "share": 0.75, "launches": 1},
        {"name": "a", "share": 0.25, "launches": 2},
    ]
    assert share_by_name([]) == []


def test_nested_host_work_counts_once() -> None:
    own = own_spans(
        [Span("outer", 0, 10), Span("inner", 2, 4), Span("leaf", 3, 1), Span("x", 12, 5)]
    )
    assert [(one.name, one.duration) for one in own] == [
        ("outer", 6),
        ("inner", 3),
        ("leaf", 1),
        ("x", 5),
    ]
    assert sum(one.duration for one in own) == pytest.approx(15)
