"""What a controlled run brings beside its median: round medians of its batch, telemetry.

A run without samples is a reported number, whatever spread its source printed beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelindex.stats import Estimate, paired_log_ratio

MIN_GENERATIONS = 3
MIN_ROUNDS = 8

RoundMedians = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """One candidate in one batch.

    ``rounds``      generation > round median, ns; paired by position with every other
                    candidate of the batch
    ``cycles``      the same in SM cycles, where clocks were sampled
    ``anchor``      the batch's anchor candidate, generation > round median, ns
    ``anchor_id``   what the anchor is (implementation and workload digests)
    ``floor``       (duration_ns, relative margin) of the batch's sentinels, ascending
    ``tick_ns``     resolution of the timer
    ``number``      the batch's number in its runner's ledger, from 1; 0 where none is stated
    ``calibrated``  whether the batch's calibration is inside its limits
    ``between_batch_sd``  the runner's standard deviation of an anchored log ratio
                    between batches; None where it has not been studied
    """

    batch: str
    runner: str
    rounds: RoundMedians
    samples_per_round: int
    floor: tuple[tuple[float, float], ...]
    tick_ns: float
    cycles: RoundMedians | None = None
    anchor: RoundMedians | None = None
    anchor_id: str | None = None
    between_batch_sd: float | None = None
    between_batch_degrees: int = 9
    number: int = 0
    calibrated: bool = True
    seconds_per_generation: float | None = field(default=None, compare=False)

    @property
    def generations(self) -> int:
        """How many fresh processes were measured."""
        return len(self.rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What a controlled run saw of its device; None where it was not sampled.

    ``busy_share`` is traced device time over event time, of 1.
    """

    sm_clock_low_mhz: float | None = None
    sm_clock_high_mhz: float | None = None
    throttle_reasons: tuple[str, ...] = ()
    busy_share: float | None = None
    bimodal: bool = False


def enough_samples(a: RoundMedians, b: RoundMedians) -> bool:
    """Whether a pair has the generations and rounds that a verdict needs."""
    paired = [(x, y) for x, y in zip(a, b, strict=False) if min(len(x), len(y)) >= MIN_ROUNDS]
    return len(paired) >= MIN_GENERATIONS


def same_batch_estimate(a: Samples, b: Samples) -> Estimate:
    """log(a / b) of two candidates interleaved in one batch."""
    return paired_log_ratio(a.rounds, b.rounds)


def cross_batch_estimate(a: Samples, b: Samples) -> Estimate | None:
    """log(a / b) through the anchor both batches measured; ``None`` where they share none.

    The ratio of the two anchored ratios; its variance adds both batches' and twice the
    runner's between-batch variance, degrees of freedom after Welch and Satterthwaite.
    """
    if a.anchor is None or b.anchor is None or a.anchor_id is None or a.anchor_id != b.anchor_id:
        return None
    if a.between_batch_sd is None or b.between_batch_sd is None:
        return None
    if not (enough_samples(a.rounds, a.anchor) and enough_samples(b.rounds, b.anchor)):
        return None
    first = paired_log_ratio(a.rounds, a.anchor)
    second = paired_log_ratio(b.rounds, b.anchor)
    parts = (
        (first.standard_error**2, first.degrees),
        (second.standard_error**2, second.degrees),
        (a.between_batch_sd**2, a.between_batch_degrees),
        (b.between_batch_sd**2, b.between_batch_degrees),
    )
    return Estimate(first.log_ratio - second.log_ratio, *_pooled(parts))


def _pooled(parts: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Standard error and effective degrees of freedom of a sum of independent parts."""
    ordered = sorted(parts)
    variance = sum(part for part, _ in ordered)
    if variance == 0.0:
        return 0.0, min(degrees for _, degrees in ordered)
    weight = sum(part**2 / degrees for part, degrees in ordered)
    return variance**0.5, variance**2 / weight
