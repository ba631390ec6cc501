import pytest

from kernelindex.runner.channel import Refused
from kernelindex.runner.worker.audit import above_floor, events_within_wall
from kernelindex.runner.worker.replies import (
    first_refusal,
    read_cycles,
    read_details,
    read_findings,
    read_times,
)


def test_times_are_taken_as_they_are() -> None:
    assert read_times([1, 2.5], most=2) == [1.0, 2.5]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        [1.0, 2.0, 3.0],
        [0.0],
        [-1.0],
        [True],
        ["1"],
        [1e14],
        {"0": 1.0},
        [None],
        [10**400],
    ],
)
def test_what_no_timer_says_is_malformed(value) -> None:
    refused = read_times(value, most=2)

    assert isinstance(refused, Refused)
    assert (refused.status, refused.code) == ("policy_violation", "malformed_reply")


def test_cycles_need_one_a_sample() -> None:
    assert read_cycles([1, 2], 2) == [1.0, 2.0]
    assert read_cycles([1], 2) is None
    assert read_cycles([1, "2"], 2) is None


@pytest.mark.parametrize("status", ["passed", "incomplete_evidence", "unstable", "x"])
def test_a_finding_cannot_forge_a_status_that_refuses_nothing(status) -> None:
    findings = read_findings({"guards": [{"code": "c", "status": status, "text": "t"}]}, "guards")
    refused = first_refusal(findings)

    assert refused is not None
    assert (refused.status, refused.code) == ("policy_violation", "malformed_reply")


def test_details_are_bounded() -> None:
    assert read_details({"a": 1}) == {"a": 1}
    assert read_details({"a": "x" * 70_000}) == {}
    assert read_details([1]) == {}


def test_a_finding_with_status_refuses_and_one_without_does_not() -> None:
    found = read_findings(
        {"guards": [{"code": "leftovers"}, 7, {"code": "x", "status": "policy_violation"}]},
        "guards",
    )

    assert [one["code"] for one in found] == ["leftovers", "x"]
    assert first_refusal(found) == Refused("policy_violation", "x", "")
    assert first_refusal(found[:1]) is None


def test_more_time_than_passed_is_refused() -> None:
    assert events_within_wall([5e6, 5e6], 10_000_000) is None
    refused = events_within_wall([5e6, 6e6], 10_000_000)
    assert refused is not None
    assert refused.code == "events_exceed_wall"


def test_below_the_floor_is_refused() -> None:
    assert above_floor([100.0, 99.0, 101.0], 100.0) is None
    assert above_floor([90.0, 90.0, 500.0], None) is None
    refused = above_floor([90.0, 90.0, 500.0], 100.0)
    assert refused is not None
    assert refused.code == "below_floor"
