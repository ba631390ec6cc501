from dataclasses import replace

import pytest

from kernelindex.runner.worker.series import build_series, own_half_width
from tests.runner.support.plans import make_plan

KEY = "forward/cold/sustained/eager"


def member(*, value=100.0, rounds=2, failure=None, frobenius=0.001, passed=True) -> dict:
    output = {"passed": passed, "frobenius": frobenius}
    return {
        "failures": {"forward": failure} if failure else {},
        "series": {
            KEY: {
                "samplesNs": [[value, value]] * rounds,
                "cycles": None,
                "wallNs": [1000] * rounds,
                "telemetry": [{}] * rounds,
                "refused": None,
            }
        },
        "found": {
            "correctness": {"forward": {"draws": {"own": {"y": output}}}},
            "firstCall": {"ns": 77},
            "loaded": {"source_digest": "sha256:1"},
        },
        "doubts": {"forward": [{"code": "host_bound", "effect": "note", "text": ""}]},
        "checked": {"forward": 1},
    }


def record(after=None, **members) -> dict:
    return {"members": members, "anchor": {"after": after or {}}}


def series_of(done, candidate="honest", device="cuda:0", **rules) -> dict:
    plan = replace(make_plan("honest", "slow", **rules), device=device)
    found = build_series(plan, {"point-0": done})
    return next(one for one in found if one["candidate"] == candidate)


def test_generations_are_gathered_in_order() -> None:
    one = series_of([record(honest=member(value=v)) for v in (100.0, 110.0)])

    assert one["status"] == "passed"
    assert one["samplesNs"] == [[[100.0] * 2] * 2, [[110.0] * 2] * 2]
    assert one["firstCallNs"] == 77
    assert one["correctness"]["timedCallsChecked"] == 2
    assert [doubt["code"] for doubt in one["doubts"]] == ["host_bound"]


def test_the_worst_of_all_draws_and_generations_is_kept() -> None:
    done = [record(honest=member(frobenius=f)) for f in (0.001, 0.004)]
    done.append(record(honest=member(frobenius=0.0001, passed=False)))
    done[1]["members"]["honest"]["found"]["correctness"]["forward"]["draws"] = {
        "uneven": {"y": {"passed": True, "frobenius": 0.004}}
    }

    assert series_of(done)["correctness"]["outputs"]["y"]["frobenius"] == 0.0001
    assert series_of(done[:2])["correctness"]["outputs"]["y"] == {
        "passed": True,
        "frobenius": 0.004,
        "draw": "uneven",
    }


def test_the_first_failure_is_the_status() -> None:
    failure = {"status": "timeout", "code": "hung", "text": "t"}
    one = series_of([record(honest=member()), record(honest=member(failure=failure))])

    assert (one["status"], one["reason"], one["text"]) == ("timeout", "hung", "t")


def test_what_is_not_supported_is_a_runtime_error() -> None:
    failure = {"status": "unsupported", "code": "no_graphs", "text": ""}

    assert series_of([record(honest=member(failure=failure))])["status"] == "runtime_error"


@pytest.mark.parametrize(
    ("done", "reason"),
    [
        ([], "not_measured"),
        ([record(honest=member(rounds=1))], "not_measured"),
        ([record(honest=member())], "generations_missing"),
    ],
)
def test_what_was_not_measured_is_said(done, reason) -> None:
    one = series_of(done)

    assert (one["status"], one["reason"]) == ("aborted", reason)


def test_generations_far_apart_are_unstable_with_their_samples() -> None:
    one = series_of([record(honest=member(value=v)) for v in (100.0, 160.0, 80.0)])

    assert (one["status"], one["reason"]) == ("unstable", "generations_differ")
    assert len(one["samplesNs"]) == 3


def slowed(times: float, generations: int = 3) -> list[dict]:
    after = {"honest": [100.0 * times] * 8, "slow": [100.0] * 8}
    return [record(after, honest=member(), slow=member()) for _ in range(generations)]


def test_an_anchor_slower_after_one_candidate_accuses_it_alone() -> None:
    assert series_of(slowed(1.5))["reason"] == "slows_next"
    assert series_of(slowed(1.5), "slow")["status"] == "passed"


def test_on_a_host_a_slower_anchor_accuses_nobody() -> None:
    """A plain RMSNorm was accused: threads that wait for more work spin on, and others run."""
    one = series_of(slowed(1.8), device="cpu")

    assert one["status"] == "passed"
    assert "slows_next" in [doubt["code"] for doubt in one["doubts"]]


def test_a_little_slower_is_a_doubt_and_two_generations_are_too_few() -> None:
    one = series_of(slowed(1.1))

    assert one["status"] == "passed"
    assert "slows_next" in [doubt["code"] for doubt in one["doubts"]]
    assert series_of(slowed(1.5, generations=2))["status"] == "passed"


def test_two_generations_have_no_width_of_their_own() -> None:
    assert own_half_width([[[1.0]], [[2.0]]]) is None
    assert own_half_width([[[1.0]]] * 3) == 0.0
