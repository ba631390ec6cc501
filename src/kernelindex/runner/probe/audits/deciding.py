"""Whether one way of calling is slower than another, so that noise cannot accuse.

Pairs are taken in random order. What decides is a bound of the median of the pairs' log ratios
that needs no distribution: the k-th smallest of n, with P(Binomial(n, 1/2) < k) <= 0.001. Twenty
pairs clear most candidates; where their median is beyond the margin, up to sixty are taken. A
suspicion must hold a second time, on new pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex import stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.audits.bench import Bench

PAIRS, MOST_PAIRS = 20, 60
# A slow candidate is cleared by three pairs once a second is over; accusing takes ten at least.
LEAST_PAIRS = 3
BUDGET_NS, LONGEST_NS = 1_000_000_000, 12_000_000_000
TAIL = 0.001
# Below this a call's time hangs on interrupts and cache lines rather than on its work.
LEAST_GAIN_NS = 2_000.0


@dataclass(frozen=True, slots=True)
class Slower:
    """How much slower one way was: the ratio's median and its lower bound, medians in ns."""

    ratio: float
    bound: float
    slow_ns: float
    quick_ns: float
    pairs: int

    def numbers(self) -> dict[str, float]:
        """The same for a finding."""
        return {
            "ratio": self.ratio,
            "bound": self.bound,
            "slowNs": self.slow_ns,
            "quickNs": self.quick_ns,
            "pairs": self.pairs,
        }


def compare(
    bench: Bench, slow: Callable[[], float], quick: Callable[[], float], margin: float
) -> Slower | None:
    """How much slower ``slow`` is than ``quick`` (each gives ns), where that is beyond doubt.

    ``margin`` is the ratio that must be exceeded by the bound, twice.
    """
    for _ in range(2):
        found = measure(bench, slow, quick, margin)
        gain = found.slow_ns - found.quick_ns
        if found.bound <= margin or gain <= max(LEAST_GAIN_NS, 2 * bench.timer.tick_ns):
            return None
    return found


def measure(
    bench: Bench, slow: Callable[[], float], quick: Callable[[], float], margin: float
) -> Slower:
    """Pairs in random order until they clear or accuse, or pairs or time are spent."""
    pairs: list[tuple[float, float]] = []
    begun = bench.clock()
    while True:
        if bench.random.below(2):
            first = slow()
            pairs.append((first, quick()))
        else:
            first = quick()
            pairs.append((slow(), first))
        if len(pairs) >= LEAST_PAIRS:
            found = _summary(pairs)
            if _enough(found, margin, bench.clock() - begun):
                return found


def _enough(found: Slower, margin: float, spent_ns: int) -> bool:
    if found.pairs < PAIRS and spent_ns <= BUDGET_NS:
        return False
    if found.ratio <= margin or found.bound > margin:
        return True
    return found.pairs >= MOST_PAIRS or (found.pairs >= PAIRS and spent_ns > LONGEST_NS)


def _summary(pairs: list[tuple[float, float]]) -> Slower:
    ratios = [math.log(max(a, 1.0) / max(b, 1.0)) for a, b in pairs]
    return Slower(
        ratio=math.exp(stats.median(ratios)),
        bound=math.exp(lower_bound(ratios)),
        slow_ns=stats.median([a for a, _ in pairs]),
        quick_ns=stats.median([b for _, b in pairs]),
        pairs=len(pairs),
    )


def lower_bound(values: list[float], tail: float = TAIL) -> float:
    """A lower bound of the median at 99.9 %; minus infinity where there are too few values."""
    n, below, k = len(values), 0.0, 0
    while k < n:
        below += math.comb(n, k) * 0.5**n
        if below > tail:
            break
        k += 1
    return sorted(values)[k - 1] if k else -math.inf
