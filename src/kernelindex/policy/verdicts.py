"""Verdicts: whether one entry is faster than another, and what would settle it if not.

A verdict starts at UNCLEAR and is earned. Swapping the arguments inverts it exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from kernelindex.policy.distance import cohort_differences
from kernelindex.policy.entries import paired_runs, value_of
from kernelindex.policy.facts import Direction
from kernelindex.policy.margins import Tolerance, log_margin
from kernelindex.policy.samples import (
    Samples,
    cross_batch_estimate,
    enough_samples,
    same_batch_estimate,
)
from kernelindex.policy.settling import Settle, settle_by_samples
from kernelindex.stats import Estimate, holm, paired_log_ratio, student_t_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.policy.entries import Entry
    from kernelindex.policy.facts import RunFacts

CONFIDENCE = 0.95
ALPHA = 1.0 - CONFIDENCE
WIDEST_SAME = math.log(1.1)
"""In log units. A machine on which identical code differs by more calls nothing the same."""
FAR_APART = math.log(2.0)
"""In log units. Batches whose spread nobody studied are decided beyond it: on four cards identical
code was 10 % apart at most, what waits for the host 45 %."""
BY_RERUN = Settle(text="rerun both in one controlled batch; reported numbers carry no samples")

BY_ONE_BATCH = Settle(text="measure both in one batch")


class VerdictKind(StrEnum):
    """What may be said of the first entry against the second."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    UNCLEAR = "UNCLEAR"
    INCOMPARABLE = "INCOMPARABLE"

    @property
    def inverted(self) -> VerdictKind:
        """The verdict with the arguments swapped."""
        swapped = {"FASTER": VerdictKind.SLOWER, "SLOWER": VerdictKind.FASTER}
        return swapped.get(self.value, self)


REASONS = {
    "identical": "both are the same entry",
    "beyond_tolerance": "the difference exceeds how far the source's own repeats differ",
    "within_tolerance": "the source's own repeats differ as much as these two",
    "interval_beyond_margin": "the 95 % interval lies wholly beyond the margin",
    "interval_within_margin": "the 95 % interval lies wholly inside the margin",
    "interval_crosses_margin": "the 95 % interval crosses the margin",
    "margin_too_wide": "identical code differs by over 10 % here, so nothing is the same",
    "not_same_in_cycles": "equal in time but not in clock cycles",
    "too_few_generations": "fewer than 3 paired process generations of 8 rounds",
    "batches_disagree": "one batch says faster and another slower",
    "far_apart": "different batches, more than twice apart",
    "no_shared_anchor": "different batches without a shared, studied anchor",
    "family_corrected": "decisive alone, not after correcting for the family of comparisons",
    "not_positive": "a value is zero or negative, so it has no ratio",
}
"""Reason codes in words; for INCOMPARABLE the codes are those of ``policy.distance``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The first entry against the second.

    ``ratio``   first / second value; ``low`` and ``high`` its 95 % interval where samples exist
    ``margin``  relative difference that counts as none
    ``lean``    +1 where the first's value is better by more than the margin, -1 where the
                second's is, else 0: decided or not
    ``p_value`` of the claim made, for correcting a family; None without samples
    """

    kind: VerdictKind
    reasons: tuple[str, ...]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float | None = None
    lean: int = 0
    p_value: float | None = None
    settle: Settle | None = None


def compare(a: Entry, b: Entry, tolerance: Tolerance) -> Verdict:
    """Judge entry ``a`` against entry ``b``; they need not be of one cohort."""
    if a.key == b.key and a.representative.digest == b.representative.digest:
        return Verdict(kind=VerdictKind.SAME, reasons=("identical",), ratio=1.0)
    differences = cohort_differences(a.representative, b.representative)
    if differences:
        codes = tuple(difference.code for difference in differences)
        return Verdict(kind=VerdictKind.INCOMPARABLE, reasons=codes)
    return compare_in_cohort(a, b, tolerance)


def compare_in_cohort(a: Entry, b: Entry, tolerance: Tolerance) -> Verdict:
    """Judge two entries known to be of one cohort.

    Of several batches that measured both the newest decides, unless another is decided the
    other way.
    """
    newest, *older = (_compare_runs(x, y, tolerance, a.direction) for x, y in paired_runs(a, b))
    if any(one.kind is newest.kind.inverted is not newest.kind for one in older):
        reasons = (*newest.reasons, "batches_disagree")
        return replace(newest, kind=VerdictKind.UNCLEAR, reasons=reasons, settle=BY_ONE_BATCH)
    return newest


def _compare_runs(a: RunFacts, b: RunFacts, tolerance: Tolerance, direction: Direction) -> Verdict:
    mine, other = value_of(a), value_of(b)
    if mine <= 0.0 or other <= 0.0:
        return Verdict(kind=VerdictKind.UNCLEAR, reasons=("not_positive",))
    if a.samples is None or b.samples is None:
        return compare_reported(mine, other, tolerance, direction)
    return compare_samples(a.samples, b.samples, mine, other, direction)


def compare_reported(
    a: float, b: float, tolerance: Tolerance, direction: Direction = Direction.LOWER
) -> Verdict:
    """Judge two positive values without samples: decisive beyond the tolerance, else UNCLEAR.

    SAME is not to be had here: two single numbers cannot show that nothing differs.
    """
    lean = _better(a, b, direction) if tolerance.separates(a, b) else 0
    kind = _decided(lean) if lean else VerdictKind.UNCLEAR
    return Verdict(
        kind=kind,
        reasons=("beyond_tolerance" if lean else "within_tolerance",),
        ratio=a / b,
        margin=tolerance.reach(min(a, b)) / min(a, b) - 1.0,
        lean=lean,
        settle=None if lean else BY_RERUN,
    )


def compare_samples(
    a: Samples, b: Samples, a_value: float, b_value: float, direction: Direction = Direction.LOWER
) -> Verdict:
    """Judge two controlled runs: paired in one batch, through the anchor across batches."""
    margin = log_margin(a, b, a_value, b_value)
    unclear = Verdict(
        kind=VerdictKind.UNCLEAR,
        reasons=("too_few_generations",),
        ratio=a_value / b_value,
        margin=math.expm1(margin),
        lean=_lean(math.log(a_value) - math.log(b_value), margin, direction),
    )
    if a.batch != b.batch or a.runner != b.runner:
        across = cross_batch_estimate(a, b)
        if across is None:
            return _compare_unstudied(a, b, unclear, margin)
        verdict = judge_estimate(across, margin, direction, a)
        return replace(verdict, settle=BY_ONE_BATCH if verdict.settle else None)
    if not enough_samples(a.rounds, b.rounds):
        return replace(unclear, settle=Settle(text="at least 3 generations of 8 rounds each"))
    verdict = judge_estimate(same_batch_estimate(a, b), margin, direction, a)
    if verdict.kind is VerdictKind.SAME and margin > WIDEST_SAME:
        settle = Settle(text="measure where identical code repeats itself better")
        return replace(
            verdict, kind=VerdictKind.UNCLEAR, reasons=("margin_too_wide",), settle=settle
        )
    if verdict.kind is VerdictKind.SAME and not _same_in_cycles(a, b, margin):
        settle = Settle(text="measure at a fixed clock, or until the clocks agree")
        return replace(
            verdict, kind=VerdictKind.UNCLEAR, reasons=("not_same_in_cycles",), settle=settle
        )
    return verdict


def judge_estimate(
    estimate: Estimate, margin: float, direction: Direction, samples: Samples
) -> Verdict:
    """Hold the interval of a log ratio against a margin in log units."""
    low, high = estimate.interval(CONFIDENCE)
    beyond = _claim_p(abs(estimate.log_ratio) - margin, estimate)
    inside = _claim_p(margin - abs(estimate.log_ratio), estimate)
    lean = _lean(estimate.log_ratio, margin, direction)
    kind, reason, p_value = VerdictKind.UNCLEAR, "interval_crosses_margin", min(beyond, inside)
    if low > margin or high < -margin:
        kind, reason, p_value = _decided(lean), "interval_beyond_margin", beyond
    elif -margin < low and high < margin:
        kind, reason, p_value = VerdictKind.SAME, "interval_within_margin", inside
    unclear = kind is VerdictKind.UNCLEAR
    return Verdict(
        kind=kind,
        reasons=(reason,),
        ratio=math.exp(estimate.log_ratio),
        low=math.exp(low),
        high=math.exp(high),
        margin=math.expm1(margin),
        lean=lean,
        p_value=p_value,
        settle=settle_by_samples(estimate, margin, samples) if unclear else None,
    )


def correct_family(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Take back claims that do not survive Holm's correction over the whole family.

    Verdicts without samples have no p-value and stand as they are.
    """
    tested = [index for index, verdict in enumerate(verdicts) if verdict.p_value is not None]
    corrected = holm([verdicts[index].p_value or 0.0 for index in tested])
    result = list(verdicts)
    for index, p_value in zip(tested, corrected, strict=True):
        if p_value > ALPHA and verdicts[index].kind is not VerdictKind.UNCLEAR:
            result[index] = replace(
                verdicts[index],
                kind=VerdictKind.UNCLEAR,
                reasons=(*verdicts[index].reasons, "family_corrected"),
                settle=Settle(text="more generations, or compare fewer candidates"),
            )
    return tuple(result)


def invert(verdict: Verdict) -> Verdict:
    """The verdict of the second entry against the first."""
    return replace(
        verdict,
        kind=verdict.kind.inverted,
        ratio=1.0 / verdict.ratio if verdict.ratio else None,
        low=1.0 / verdict.high if verdict.high else None,
        high=1.0 / verdict.low if verdict.low else None,
        lean=-verdict.lean,
    )


def _better(a: float, b: float, direction: Direction) -> int:
    """+1 where ``a`` is better, -1 where ``b`` is; never asked for equal values."""
    lower = a < b
    return 1 if lower == (direction is Direction.LOWER) else -1


def _compare_unstudied(a: Samples, b: Samples, unclear: Verdict, margin: float) -> Verdict:
    """Judge runs of batches that no study connects: decided where they are FAR_APART."""
    complete = enough_samples(a.rounds, a.rounds) and enough_samples(b.rounds, b.rounds)
    far = unclear.ratio is not None and abs(math.log(unclear.ratio)) > max(FAR_APART, margin)
    if complete and far:
        return replace(unclear, kind=_decided(unclear.lean), reasons=("far_apart",))
    return replace(unclear, reasons=("no_shared_anchor",), settle=BY_ONE_BATCH)


def _lean(log_ratio: float, margin: float, direction: Direction) -> int:
    """Which value is better by more than the margin, whether or not that is shown."""
    return _better(log_ratio, 0.0, direction) if abs(log_ratio) > margin else 0


def _decided(lean: int) -> VerdictKind:
    return VerdictKind.FASTER if lean > 0 else VerdictKind.SLOWER


def _claim_p(distance: float, estimate: Estimate) -> float:
    """Two-sided p of an estimate being ``distance`` (log units) beyond where it claims."""
    if estimate.standard_error == 0.0:
        return 0.0 if distance > 0.0 else 1.0
    return min(1.0, 2.0 * student_t_tail(distance / estimate.standard_error, estimate.degrees))


def _same_in_cycles(a: Samples, b: Samples, margin: float) -> bool:
    """Whether the interval in cycles is inside the margin too, where clocks were sampled."""
    if a.cycles is None or b.cycles is None:
        return True
    low, high = paired_log_ratio(a.cycles, b.cycles).interval(CONFIDENCE)
    return -margin < low and high < margin
