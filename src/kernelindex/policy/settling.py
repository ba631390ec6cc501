"""What would settle an unclear verdict: how many more generations, samples, minutes."""

from __future__ import annotations

from dataclasses import dataclass

from kernelindex.policy.samples import MIN_GENERATIONS, Samples
from kernelindex.stats import Estimate, student_t_quantile

MOST_GENERATIONS = 400
NORMAL_QUANTILE = 1.959963984540054


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

    Assumes that the log ratio and the spread between generations stay as they are. Where
    400 generations would not do, the difference is about as large as the margin itself.
    """
    gap = abs(abs(estimate.log_ratio) - margin)
    needed = _generations_needed(estimate, gap, samples.generations)
    if needed is None:
        return Settle(text="too near the margin: 400 generations would not settle it")
    rounds = max(len(one) for one in samples.rounds)
    per_generation = samples.seconds_per_generation
    seconds = None if per_generation is None else 2.0 * needed * per_generation
    total = needed * rounds * samples.samples_per_round
    text = f"{needed} generations a candidate (now {samples.generations}), {total} samples each"
    if seconds is not None:
        text += f", about {max(1, round(seconds / 60))} min"
    return Settle(text=text, generations=needed, samples=total, seconds=seconds)


def _generations_needed(estimate: Estimate, gap: float, now: int) -> int | None:
    """The smallest number whose t interval is narrower than ``gap`` on each side.

    Student's t lies above the normal quantile, so the search starts where that one fits.
    """
    spread = estimate.standard_error * now**0.5
    if gap <= 0.0 or (NORMAL_QUANTILE * spread / gap) ** 2 > MOST_GENERATIONS:
        return None
    least = max(now + 1, MIN_GENERATIONS, int((NORMAL_QUANTILE * spread / gap) ** 2))
    for count in range(least, MOST_GENERATIONS + 1):
        if student_t_quantile(0.975, count - 1.0) * spread / count**0.5 < gap:
            return count
    return None
