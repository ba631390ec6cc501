from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.doubts import PassTimes, passes_disagree
from kernelindex.policy.facts import RunFacts, TimedPass
from kernelindex.policy.siblings import sibling_passes
from tests.policy.factories import H100, NATIVE, make_run

FORWARD = make_run(value=1000.0, timed_pass=TimedPass.FORWARD)
BACKWARD = make_run(value=2000.0, timed_pass=TimedPass.BACKWARD)
FULL = make_run(value=3050.0, timed_pass=TimedPass.FULL)


def test_each_of_the_three_knows_all_three() -> None:
    found = sibling_passes([FULL, FORWARD, BACKWARD])
    times = PassTimes(forward_ns=1000.0, backward_ns=2000.0, full_ns=3050.0)
    assert found == dict.fromkeys((FORWARD.digest, BACKWARD.digest, FULL.digest), times)
    assert not passes_disagree(times)


def test_two_passes_are_not_enough() -> None:
    assert sibling_passes([FORWARD, FULL]) == {}


@pytest.mark.parametrize(
    "other",
    [
        replace(FULL, revision="2.0"),
        replace(FULL, stack=()),
        replace(FULL, device=replace(H100, product_id="h100-nvl-94gb")),
        replace(FULL, status="timeout"),
        replace(FULL, primary=None),
        replace(FULL, protocol=replace(NATIVE, rules=(("cache", "cold"),))),
        replace(FULL, source="another"),
    ],
)
def test_siblings_are_measured_alike(other: RunFacts) -> None:
    assert sibling_passes([FORWARD, BACKWARD, other]) == {}


def test_rules_about_gradients_may_differ_between_passes() -> None:
    leaf = replace(BACKWARD, protocol=replace(NATIVE, rules=(("gradients", "leaf"),)))
    assert len(sibling_passes([FORWARD, leaf, FULL])) == 3
