"""The limits of self-checks, and what of a calibration is not inside them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kernelindex.selfchecks import ON_DEVICE, ON_HOST, calibration_problems
from tests.support.selfchecks import make_selfcheck


def problems(device: str = "cuda:0", **changed: float) -> tuple[str, ...]:
    return calibration_problems({"selfchecks": [make_selfcheck(device, **changed)]}, device)


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_a_calibration_inside_its_limits_has_no_problem(device: str) -> None:
    assert problems(device) == ()


def test_what_is_outside_is_named_with_its_value_and_limits() -> None:
    assert problems(twice_the_spin=1.926414) == ("twice_the_spin 1.926, wanted 1.96 to 2.04",)
    assert problems("cpu", flush=1.05) == ("flush 1.05, wanted at least 1.1",)


def test_the_bounds_belong_to_the_limits() -> None:
    for name, limit in ON_DEVICE.items():
        below = math.nextafter(limit.low, -math.inf)
        if name != "flush":
            assert problems(**{name: limit.low}) == ()
            assert problems(**{name: below}) != ()
            assert problems(**{name: math.nextafter(limit.high, math.inf)}) != ()


def test_the_runner_s_word_counts_for_nothing() -> None:
    lying = make_selfcheck(known_bytes=1.5)
    lying["passed"] = True
    for one in lying["checks"]:
        one |= {"passed": True, "numbers": {**one["numbers"], "high": 9.0}}
    found = calibration_problems({"selfchecks": [lying], "withinLimits": True}, "cuda:0")
    assert found == ("known_bytes 1.5, wanted 0.4 to 1.02",)


def test_no_check_may_be_missing() -> None:
    assert calibration_problems({"selfchecks": []}, "cpu") == ("no self-check was made",)
    some = make_selfcheck("cpu")
    del some["checks"][2]
    found = calibration_problems({"selfchecks": [make_selfcheck("cpu"), some]}, "cpu")
    assert found == ("clock has no number, wanted 0.999 to 1.1",)
    assert set(ON_HOST) - {"clock"} == {one["name"] for one in some["checks"]}


def test_failures_of_anchor_sentinels_and_self_check_are_said() -> None:
    calibration = {
        "selfchecks": [make_selfcheck(), {"problem": "selfcheck: timeout. Tried to allocate"}],
        "anchor": {"problems": ["load: runtime_error"]},
        "sentinels": [{"problems": []}, {"problems": ["5us: timeout"]}],
    }
    assert calibration_problems(calibration, "cuda:1") == (
        "a self-check was not made: selfcheck: timeout",
        "the anchor failed: load: runtime_error",
        "a sentinel failed: 5us: timeout",
    )


@pytest.mark.parametrize(
    "calibration",
    [
        None,
        [],
        "x",
        {},
        {"selfchecks": "x", "anchor": 3, "sentinels": {"problems": 1}},
        {"selfchecks": [{"checks": [{"name": "tick", "numbers": {"value": "1"}}, 7]}]},
        {"selfchecks": [{"checks": [{"name": "flush", "numbers": {"cold_ns": 1, "hot_ns": 0}}]}]},
        {"selfchecks": [{"checks": [{"name": "a_a", "numbers": {"value": True}}]}]},
        {"selfchecks": [{"checks": [{"name": "a_a", "numbers": {"value": 10**400}}]}]},
        {"selfchecks": [{"checks": [{"name": "a_a", "numbers": {"value": math.nan}}]}]},
    ],
)
def test_whatever_else_is_there_is_a_problem_and_no_error(calibration: Any) -> None:
    assert calibration_problems(calibration, "cuda:0")
