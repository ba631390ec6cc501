"""What would settle an unclear verdict: how many more generations, samples, minutes."""

from __future__ import annotations

from dataclasses import dataclass

from kernelindex.policy.samples import MIN_GENERATIONS, Samples
from kernelindex.stats import Estimate, student_t_quantile

MOST_GENERATIONS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """What to do next, in words, with counts where they can be foreseen.

    ``generations`` and ``samples`` are totals a candidate; ``seconds`` is for the pair.
    """

    text: str
    generations: int | None = None
    samples: int | None = None
    seconds: float | None = None


def settle_by_samples(estimate: Estimate, margin: float, samples: Samples) -> Settle:
    """The generations after which the same scatter would give a verdict.

    Assumes the log ratio and the spread between generations stay as they are; more than
    400 generations means that the difference is as large as the margin itself.
    """
    gap = abs(abs(estimate.log_ratio) - margin)
    needed = _generations_needed(estimate, gap, samples.generations)
    if needed is None:
        return Settle(text="the difference is as large as the margin: more runs settle nothing")
    rounds = max(len(one) for one in samples.rounds)
    per_generation = samples.seconds_per_generation
    seconds = None if per_generation is None else 2.0 * needed * per_generation
    total = needed * rounds * samples.samples_per_round
    text = f"{needed} generations a candidate (now {samples.generations}), {total} samples each"
    if seconds is not None:
        text += f", about {max(1, round(seconds / 60))} min"
    return Settle(text=text, generations=needed, samples=total, seconds=seconds)


def _generations_needed(estimate: Estimate, gap: float, now: int) -> int | None:
    """The smallest number whose t interval is narrower than ``gap`` on each side."""
    spread = estimate.standard_error * now**0.5
    for count in range(max(now + 1, MIN_GENERATIONS), MOST_GENERATIONS + 1):
        if student_t_quantile(0.975, count - 1.0) * spread / count**0.5 < gap:
            return count
    return None
