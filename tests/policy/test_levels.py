from __future__ import annotations

from dataclasses import fields, replace

import pytest

from kernelindex.policy.facts import Correctness, Level
from kernelindex.policy.levels import (
    EvidenceFacts,
    Replication,
    level_of,
    missing_versions,
)
from tests.policy.factories import CONTROLLED, make_run

REPRODUCIBLE = EvidenceFacts(
    exact_source=True,
    complete_workload=True,
    complete_protocol=True,
    raw_samples=True,
)
VERIFIED = replace(
    REPRODUCIBLE,
    signed_by_approved_key=True,
    correctness_passed=True,
    calibration_within_limits=True,
    owner="us",
    host="h1",
    gpu="g1",
)
OTHER = Replication(
    run_digest="sha256:x", owner="them", host="h2", gpu="g2", approved=True, ratio=1.02
)
FULL = (("cuda", "13.0"), ("driver", "580.1"), ("torch", "2.11"))
CONTROLLED_RUN = make_run(protocol=CONTROLLED, stack=FULL)


def test_a_bare_number_is_reported_and_says_what_it_lacks() -> None:
    report = level_of(make_run())
    assert report.level is Level.REPORTED
    assert report.next is Level.REPRODUCIBLE
    assert report.missing == (
        "the exact source",
        "a complete workload",
        "a complete protocol",
        "software versions (driver)",
        "raw samples",
    )


def test_what_manifests_state_need_not_be_handed_over() -> None:
    run = make_run(stack=FULL, stated=("source", "workload", "protocol", "samples"))
    assert level_of(run).level is Level.REPRODUCIBLE
    assert level_of(replace(run, stated=run.stated[1:])).missing == ("the exact source",)


@pytest.mark.parametrize(
    ("stack", "missing"),
    [
        ((), ("driver", "toolkit", "framework")),
        ((("driver", "580"), ("os", "Linux")), ("toolkit", "framework")),
        ((("driver", "6"), ("ROCm", "6.4"), ("triton", "3.6")), ()),
    ],
)
def test_versions_are_of_driver_toolkit_and_framework(
    stack: tuple[tuple[str, str], ...], missing: tuple[str, ...]
) -> None:
    assert missing_versions(stack) == missing


def test_each_level_needs_all_below_it() -> None:
    assert level_of(make_run(stack=FULL), REPRODUCIBLE).level is Level.REPRODUCIBLE
    assert level_of(CONTROLLED_RUN, VERIFIED).level is Level.VERIFIED
    signed_only = replace(VERIFIED, raw_samples=False)
    assert level_of(CONTROLLED_RUN, signed_only).level is Level.REPORTED
    assert level_of(CONTROLLED_RUN, signed_only).missing == ("raw samples",)


@pytest.mark.parametrize(
    "name", [one.name for one in fields(EvidenceFacts) if one.default is False]
)
def test_no_piece_of_evidence_may_be_missing(name: str) -> None:
    assert level_of(CONTROLLED_RUN, replace(VERIFIED, **{name: False})).level is not Level.VERIFIED


def test_what_a_measurement_lacks_is_said_and_keeps_it_from_being_verified() -> None:
    lacking = replace(VERIFIED, lacks=("a trace of what ran",))
    assert level_of(CONTROLLED_RUN, lacking).missing == ("a trace of what ran",)


def test_a_processor_has_no_driver_and_no_toolkit() -> None:
    assert missing_versions((("numpy", "2.4"),), on_cpu=True) == ()
    device = replace(CONTROLLED_RUN.device, architecture="x86_64")
    run = replace(CONTROLLED_RUN, device=device, stack=(("os", "Linux"),))
    assert level_of(run, VERIFIED).missing == ("software versions (framework)",)


def test_a_signature_does_not_verify_what_was_not_controlled_or_checked() -> None:
    assert level_of(make_run(stack=FULL), VERIFIED).missing == ("a controlled run",)
    unchecked = replace(
        CONTROLLED_RUN, correctness=Correctness(asserted=False, comparator="not_asserted")
    )
    assert level_of(unchecked, VERIFIED).missing == ("correctness asserted and passed",)


def test_replicated_needs_an_independent_approved_run_nearby() -> None:
    report = level_of(CONTROLLED_RUN, replace(VERIFIED, replications=(OTHER,)))
    assert report.level is Level.REPLICATED
    assert (report.missing, report.next) == ((), None)


@pytest.mark.parametrize(
    "change",
    [
        {"owner": "us"},
        {"host": "h1"},
        {"gpu": "g1"},
        {"owner": ""},
        {"approved": False},
        {"ratio": 1.04},
        {"ratio": 0.96},
        {"ratio": 0.0},
    ],
)
def test_what_is_no_replication(change: dict[str, object]) -> None:
    evidence = replace(VERIFIED, replications=(replace(OTHER, **change),))
    assert level_of(CONTROLLED_RUN, evidence).level is Level.VERIFIED
