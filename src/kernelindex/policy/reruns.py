"""What a controlled rerun says of a reported number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kernelindex.policy.cohorts import shape_key
from kernelindex.policy.distance import Difference, cohort_differences
from kernelindex.policy.doubts import known_shift_ns
from kernelindex.policy.entries import value_of
from kernelindex.policy.facts import UNSTATED, Doubt, Profile, RunFacts, TimedPass

if TYPE_CHECKING:
    from kernelindex.policy.margins import Tolerance

EXPLAINED_WITHIN = 0.25


class RerunKind(StrEnum):
    """Whether a rerun bears a reported number out."""

    CONFIRMED = "confirmed"
    EXPLAINED = "explained"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not_comparable"


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunVerdict:
    """``ratio`` is reported over controlled; ``predicted_ns`` the reported value less the
    known sizes of its doubts; ``differences`` are those in revision, generator, protocol.
    """

    kind: RerunKind
    text: str
    ratio: float | None = None
    predicted_ns: float | None = None
    differences: tuple[Difference, ...] = ()


def rerun_verdict(
    reported: RunFacts,
    controlled: RunFacts,
    *,
    tolerance: Tolerance,
    reported_doubts: tuple[Doubt, ...] = (),
    controlled_doubts: tuple[Doubt, ...] = (),
) -> RerunVerdict:
    """Judge a reported run by a controlled one of the same line, shape, pass and product.

    ``tolerance`` is that of the reported run's source.
    """
    obstacle = _not_comparable(reported, controlled)
    if obstacle:
        return RerunVerdict(kind=RerunKind.NOT_COMPARABLE, text=obstacle)
    was, now = value_of(reported), value_of(controlled)
    shift = known_shift_ns(reported_doubts)
    predicted = None if shift is None else was - shift
    kind, text = _judge(was, now, predicted, tolerance)
    if kind is RerunKind.CONTRADICTED:
        kind, text = _temper(reported, controlled, controlled_doubts, text)
    return RerunVerdict(
        kind=kind,
        text=text,
        ratio=was / now,
        predicted_ns=predicted,
        differences=_differences(reported, controlled),
    )


def _not_comparable(reported: RunFacts, controlled: RunFacts) -> str | None:
    """Why the two cannot speak of each other; ``None`` if they can."""
    checks = (
        (controlled.protocol.profile is Profile.CONTROLLED, "the rerun is not a controlled run"),
        (reported.line.id == controlled.line.id, _line_text(reported, controlled)),
        (shape_key(reported.shape) == shape_key(controlled.shape), "the shapes differ"),
        (_passes_match(reported, controlled), "different passes were timed"),
        (_same_product(reported, controlled), "the GPU products differ or are not known"),
        (_same_metric(reported, controlled), "the two have no metric in common"),
    )
    return next((text for met, text in checks if not met), None)


def _line_text(reported: RunFacts, controlled: RunFacts) -> str:
    return f"different code: {reported.line.title} was reported, {controlled.line.title} was rerun"


def _passes_match(reported: RunFacts, controlled: RunFacts) -> bool:
    return reported.timed_pass in (controlled.timed_pass, TimedPass.UNSTATED)


def _same_product(reported: RunFacts, controlled: RunFacts) -> bool:
    known = reported.device.product_id
    return known is not None and known == controlled.device.product_id


def _same_metric(reported: RunFacts, controlled: RunFacts) -> bool:
    first, second = reported.primary, controlled.primary
    if first is None or second is None or min(first.value, second.value) <= 0.0:
        return False
    return (first.metric, first.unit) == (second.metric, second.unit)


def _judge(
    was: float, now: float, predicted: float | None, tolerance: Tolerance
) -> tuple[RerunKind, str]:
    if not tolerance.separates(was, now):
        text = f"within {tolerance.relative:.0%} of the rerun ({tolerance.basis})"
        return RerunKind.CONFIRMED, text
    if predicted is not None and _near(predicted, now):
        text = "differs as its named doubts predict, within 25 %"
        return RerunKind.EXPLAINED, text
    larger = "slower" if was > now else "faster"
    times = max(was, now) / min(was, now)
    return RerunKind.CONTRADICTED, f"reported {times:.2f}x {larger} than it reruns"


def _near(predicted: float, now: float) -> bool:
    if predicted <= 0.0:
        return False
    return max(predicted, now) <= (1.0 + EXPLAINED_WITHIN) * min(predicted, now)


def _temper(
    reported: RunFacts, controlled: RunFacts, controlled_doubts: tuple[Doubt, ...], text: str
) -> tuple[RerunKind, str]:
    """A mismatch that something else may have caused is inconclusive, not a contradiction."""
    if reported.timed_pass is TimedPass.UNSTATED:
        return RerunKind.INCONCLUSIVE, f"{text}, but which pass it timed is not stated"
    if reported.revision != controlled.revision or reported.revision == UNSTATED:
        return RerunKind.INCONCLUSIVE, f"{text}, but the revisions differ or are not stated"
    if any(doubt.effect != "note" for doubt in controlled_doubts):
        heavy = [one.code for one in controlled_doubts if one.effect != "note"]
        words = ", ".join(code.replace("_", " ").lower() for code in heavy)
        return RerunKind.INCONCLUSIVE, f"{text}, but the rerun itself is doubted: {words}"
    return RerunKind.CONTRADICTED, text


def _differences(reported: RunFacts, controlled: RunFacts) -> tuple[Difference, ...]:
    was, now = reported.revision, controlled.revision
    revision = Difference(code="revision", name="revision", wanted=was, has=now)
    return (*((revision,) if was != now else ()), *cohort_differences(reported, controlled))
