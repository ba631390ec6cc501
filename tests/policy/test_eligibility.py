from __future__ import annotations

import pytest

from kernelindex.policy.eligibility import CODES, exclusions
from kernelindex.policy.facts import Cost, TimedPass
from tests.policy.factories import make_primary, make_product, make_run

CASES = {
    "not_passed": {"status": "incorrect_numerical"},
    "retracted": {"retracted": "wrong card"},
    "superseded": {"superseded_by": "sha256:0123456789abcdef"},
    "inferred": {"inferred": True},
    "wrong_operation": {"implementation_operation_digest": "sha256:other"},
    "missing_primary_metric": {"primary": None, "primary_problem": "ambiguous_primary_metric"},
    "unknown_metric": {"primary": make_primary(metric="elegance", direction=None)},
    "not_positive": {"primary": make_primary(0.0)},
    "above_physical_floor": {"cost": Cost(flops=10**10, bytes=None)},
}


def test_a_plain_run_ranks() -> None:
    assert exclusions(make_run(), make_product()) == ()


@pytest.mark.parametrize("code", CODES)
def test_each_reason_excludes_by_itself(code: str) -> None:
    (found,) = exclusions(make_run(**CASES[code]), make_product())
    assert found.code == code
    assert len(found.text) > 15


def test_all_reasons_are_given_in_order() -> None:
    run = make_run(status="timeout", retracted="", inferred=True)
    assert [one.code for one in exclusions(run)] == ["not_passed", "retracted", "inferred"]


def test_a_failed_run_is_not_also_blamed_for_its_missing_number() -> None:
    assert [one.code for one in exclusions(make_run(status="timeout", primary=None))] == [
        "not_passed"
    ]


def test_a_backward_pass_above_its_floor_is_not_called_wrong() -> None:
    """Liger's fused linear losses compute their gradients in forward, openly."""
    cost = Cost(flops=10**10, bytes=None)
    (backward,) = exclusions(make_run(cost=cost), make_product())
    (forward,) = exclusions(make_run(cost=cost, timed_pass=TimedPass.FORWARD), make_product())
    assert "another pass did its work" in backward.text
    assert "cannot be right" in forward.text


def test_the_words_say_what_happened() -> None:
    (failed,) = exclusions(make_run(status="incorrect_numerical"))
    assert failed.text == "the run did not pass: incorrect numerical"
    (retracted,) = exclusions(make_run(retracted="wrong card"))
    assert retracted.text == "retracted: wrong card"
