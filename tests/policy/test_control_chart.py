from __future__ import annotations

import pytest

from kernelindex import stats
from kernelindex.policy.control_chart import (
    ChartVerdict,
    chart_values,
    judge_in_order,
    make_limits,
)


def history(count: int, sigma: float = 0.01) -> list[dict[str, float]]:
    random = stats.Random(3)
    return [{"anchor_ns": 500.0 * (1 + sigma * random.normal())} for _ in range(count)]


def judge(earlier: list[dict[str, float]], values: dict[str, float]) -> ChartVerdict:
    return judge_in_order([*earlier, values])[-1]


def test_limits_are_three_sigma_of_the_moving_range() -> None:
    limits = make_limits([10.0, 12.0, 10.0, 12.0, 10.0])
    assert limits is not None
    assert limits.centre == pytest.approx(10.8)
    assert limits.high - limits.centre == pytest.approx(3 * 2.0 / 1.128)


def test_equal_values_leave_half_a_percent_of_sigma() -> None:
    limits = make_limits([100.0] * 10)
    assert limits is not None
    assert (limits.low, limits.high) == (pytest.approx(98.5), pytest.approx(101.5))


def test_too_few_values_make_no_limits() -> None:
    assert make_limits([1.0] * 4) is None


def test_the_first_twenty_batches_are_provisional() -> None:
    verdict = judge(history(19), {"anchor_ns": 500.0})
    assert verdict.status == "provisional"
    assert verdict.provisional
    assert verdict.within_limits


def test_then_a_batch_is_inside_or_outside() -> None:
    assert judge(history(20), {"anchor_ns": 503.0}).status == "inside"
    verdict = judge(history(20), {"anchor_ns": 550.0})
    assert verdict.status == "outside"
    assert not verdict.within_limits
    assert [one.name for one in verdict.outside] == ["anchor_ns"]
    assert verdict.outside[0].text.startswith("anchor_ns 550, by 20 earlier batches wanted 4")


def test_a_provisional_batch_can_be_outside_already() -> None:
    verdict = judge(history(8), {"anchor_ns": 900.0})
    assert verdict.status == "outside"
    assert verdict.provisional


def test_a_batch_that_was_outside_does_not_widen_the_limits() -> None:
    usual = history(10)
    after = judge_in_order([*usual, {"anchor_ns": 900.0}, {"anchor_ns": 700.0}, usual[0]])[10:]
    assert [one.status for one in after] == ["outside", "outside", "provisional"]
    assert [one.batches for one in after] == [10, 10, 10]
    assert after[0].outside[0].limits == after[1].outside[0].limits


def test_values_without_a_history_are_not_judged() -> None:
    assert judge(history(25), {"new": 1.0}).status == "inside"
    assert judge([], {"anchor_ns": 1.0}).status == "provisional"


def test_false_alarms_are_rare() -> None:
    random, alarms = stats.Random(5), 0
    for seed in range(300):
        one = stats.Random(seed)
        earlier = [{"v": 100 + one.normal()} for _ in range(30)]
        alarms += judge(earlier, {"v": 100 + random.normal()}).status == "outside"
    assert alarms <= 9


def test_values_of_a_batch_are_read_from_its_calibration() -> None:
    calibration = {
        "anchor": {"id": "a", "medians": [[500.0, 510.0], [530.0]]},
        "selfchecks": [{"values": {"flop": 7.0}}, {"values": {"flop": 9.0, "copy": 3.0}}, {}],
    }
    assert chart_values(calibration) == {"ns of a": 510.0, "copy": 3.0, "flop": 8.0}


def test_times_of_a_few_ticks_are_not_charted() -> None:
    values = {"events_ns": 1248.0, "l2_copy_ns": 8960.0, "spin_ns_per_cycle": 0.5}
    found = chart_values({"tickNs": 32.0, "selfchecks": [{"values": values}]})
    assert found == {"l2_copy_ns": 8960.0, "spin_ns_per_cycle": 0.5}


@pytest.mark.parametrize(
    "calibration",
    [
        None,
        [],
        {},
        {"anchor": 3, "selfchecks": 4, "tickNs": "x"},
        {"anchor": {"medians": [1, [True, None, "x", 10**400, float("nan")]]}},
        {"selfchecks": [7, {"values": []}, {"values": {"a": [], "b": float("inf")}}]},
    ],
)
def test_what_is_no_calibration_gives_no_values(calibration: object) -> None:
    assert chart_values(calibration) == {}
