from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.facts import Doubt, TimedPass
from kernelindex.policy.margins import Tolerance
from kernelindex.policy.reruns import RerunKind, rerun_verdict
from tests.policy.factories import CONTROLLED, H100, SHAPE, make_line, make_primary, make_run

TOLERANCE = Tolerance(relative=0.06, basis="the source's own repeats differ by 6.0%")
REPORTED = make_run(value=5.0e6)
HARNESS = Doubt(code="HARNESS_WORK_IN_TIMED_REGION", effect="shifts", text="", shift_ns=1.0e6)


def rerun(value: float, **changes: object) -> object:
    return make_run(value=value, protocol=CONTROLLED, source="kernelindex-runner", **changes)


def judge(
    value: float, *doubts: Doubt, reported: object = REPORTED, **changes: object
) -> RerunKind:
    return rerun_verdict(
        reported,  # type: ignore[arg-type]
        rerun(value, **changes),  # type: ignore[arg-type]
        tolerance=TOLERANCE,
        reported_doubts=doubts,
    ).kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (5.0e6, RerunKind.CONFIRMED),
        (4.72e6, RerunKind.CONFIRMED),
        (4.0e6, RerunKind.CONTRADICTED),
        (7.0e6, RerunKind.CONTRADICTED),
    ],
)
def test_confirmed_is_within_the_sources_own_dispersion(value: float, kind: RerunKind) -> None:
    assert judge(value) is kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (4.0e6, RerunKind.EXPLAINED),
        (3.25e6, RerunKind.EXPLAINED),
        (3.1e6, RerunKind.CONTRADICTED),
        (6.0e6, RerunKind.CONTRADICTED),
        (5.0e6, RerunKind.CONFIRMED),
    ],
)
def test_explained_is_where_the_doubts_predict(value: float, kind: RerunKind) -> None:
    assert judge(value, HARNESS) is kind


def test_the_prediction_and_ratio_are_given() -> None:
    verdict = rerun_verdict(
        REPORTED,
        rerun(4.0e6, revision="2.0"),  # type: ignore[arg-type]
        tolerance=TOLERANCE,
        reported_doubts=(HARNESS,),
    )
    assert verdict.predicted_ns == 4.0e6
    assert verdict.ratio == 1.25
    assert [one.code for one in verdict.differences][:2] == ["revision", "protocol_name"]


@pytest.mark.parametrize(
    "change",
    [
        {"line": make_line("transformers")},
        {"shape": replace(SHAPE, axes=(("experts", 8),))},
        {"timed_pass": TimedPass.FORWARD},
        {"device": replace(H100, product_id="h200-sxm-141gb")},
        {"device": replace(H100, product_id=None)},
        {"primary": make_primary(5e6, metric="peak_memory", unit="bytes")},
        {"primary": None},
        {"protocol": REPORTED.protocol},
    ],
)
def test_other_code_shape_pass_product_or_metric_says_nothing(change: dict[str, object]) -> None:
    controlled = replace(rerun(5.0e6), **change)  # type: ignore[type-var]
    verdict = rerun_verdict(REPORTED, controlled, tolerance=TOLERANCE)  # type: ignore[arg-type]
    assert verdict.kind is RerunKind.NOT_COMPARABLE
    assert verdict.ratio is None


def test_a_restated_loop_is_not_judged_by_the_released_library() -> None:
    loop = replace(REPORTED, line=make_line("loop", restated=True))
    library = rerun(5.0e6, line=make_line("transformers"))
    verdict = rerun_verdict(loop, library, tolerance=TOLERANCE)  # type: ignore[arg-type]
    assert verdict.kind is RerunKind.NOT_COMPARABLE
    assert verdict.text == "different code: Loop was reported, Transformers was rerun"


def test_what_else_may_explain_it_makes_it_inconclusive() -> None:
    assert judge(9e6, revision="2.0") is RerunKind.INCONCLUSIVE
    unstated = replace(REPORTED, timed_pass=TimedPass.UNSTATED)
    assert judge(9e6, reported=unstated) is RerunKind.INCONCLUSIVE
    doubted = rerun_verdict(
        REPORTED,
        rerun(9e6),  # type: ignore[arg-type]
        tolerance=TOLERANCE,
        controlled_doubts=(Doubt(code="THROTTLED", effect="shifts", text=""),),
    )
    assert doubted.kind is RerunKind.INCONCLUSIVE
    assert doubted.text.endswith("doubted: throttled")
