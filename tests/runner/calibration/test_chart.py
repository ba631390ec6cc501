from __future__ import annotations

import pytest

from kernelindex import stats
from kernelindex.runner.calibration.chart import chart_values, judge_batch, make_limits


def history(count: int, sigma: float = 0.01) -> list[dict[str, float]]:
    random = stats.Random(3)
    return [{"anchor_ns": 500.0 * (1 + sigma * random.normal())} for _ in range(count)]


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
    verdict = judge_batch(history(19), {"anchor_ns": 500.0})
    assert verdict.status == "provisional"
    assert verdict.provisional
    assert verdict.within_limits


def test_then_a_batch_is_inside_or_outside() -> None:
    assert judge_batch(history(20), {"anchor_ns": 503.0}).status == "inside"
    verdict = judge_batch(history(20), {"anchor_ns": 550.0})
    assert verdict.status == "outside"
    assert not verdict.within_limits
    assert [one.name for one in verdict.outside] == ["anchor_ns"]
    assert verdict.to_fields()["within_limits"] is False


def test_a_provisional_batch_can_be_outside_already() -> None:
    verdict = judge_batch(history(8), {"anchor_ns": 900.0})
    assert verdict.status == "outside"
    assert verdict.provisional


def test_values_without_a_history_are_not_judged() -> None:
    assert judge_batch(history(25), {"new": 1.0}).status == "inside"
    assert judge_batch([], {"anchor_ns": 1.0}).status == "provisional"


def test_false_alarms_are_rare() -> None:
    random, alarms = stats.Random(5), 0
    for seed in range(300):
        one = stats.Random(seed)
        earlier = [{"v": 100 + one.normal()} for _ in range(30)]
        alarms += judge_batch(earlier, {"v": 100 + random.normal()}).status == "outside"
    assert alarms <= 9


def test_values_of_a_batch_are_read_from_its_calibration() -> None:
    calibration = {
        "anchor": {"medians": [[500.0, 510.0], [530.0]]},
        "selfchecks": [{"values": {"flop": 7.0}}, {"values": {"flop": 9.0, "copy": 3.0}}, {}],
    }
    assert chart_values(calibration) == {"anchor_ns": 510.0, "copy": 3.0, "flop": 8.0}
    assert chart_values({}) == {}
