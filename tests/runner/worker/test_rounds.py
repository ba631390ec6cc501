from __future__ import annotations

import pytest

from kernelindex.runner.channel import Reply
from kernelindex.runner.worker.rounds import call_ns


def reply(wall_ns: int, **fields: object) -> Reply:
    return Reply(fields=fields, wall_ns=wall_ns)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"timed_ns": 6_000_000}, 1_500_000),  # without the 94 ms that refreshing contents took
        ({"timed_ns": 1}, 1_000_000),  # never less than the samples themselves
        ({"timed_ns": 10**12}, 25_000_000),  # never more than our own clock saw
        ({"timed_ns": "soon"}, 25_000_000),
        ({}, 25_000_000),
    ],
)
def test_a_calls_time_is_that_of_the_timed_region(
    fields: dict[str, object], expected: float
) -> None:
    assert call_ns(reply(100_000_000, **fields), [1e6] * 4) == expected
