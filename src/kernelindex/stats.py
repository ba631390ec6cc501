"""Statistics that verdicts rest on, in the standard library only.

Everything is deterministic: the random generator is our own, so a drawn figure or a
planned order can be made again with any Python and no numerical package.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_BETA_TERMS = 10_000
_TINY = 1e-300


class SplitMix64:
    """The splitmix64 sequence of a 64-bit seed (Steele, Lea and Flood, OOPSLA 2014)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next(self) -> int:
        """The next 64-bit integer."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)


class Random:
    """The generator of every draw here: xoshiro256++ (Blackman and Vigna, 2019).

    Its state is the first four outputs of ``SplitMix64(seed)``.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        mixer = SplitMix64(seed)
        self._state = (mixer.next(), mixer.next(), mixer.next(), mixer.next())

    @classmethod
    def from_state(cls, state: tuple[int, int, int, int]) -> Random:
        """A generator at a given 256-bit state that is not all zero."""
        made = cls(0)
        made._state = state
        return made

    def next(self) -> int:
        """The next 64-bit integer."""
        s0, s1, s2, s3 = self._state
        result = (_rotate_left((s0 + s3) & _MASK, 23) + s0) & _MASK
        s2 ^= s0
        s3 ^= s1
        self._state = (s0 ^ s3, s1 ^ s2, s2 ^ ((s1 << 17) & _MASK), _rotate_left(s3, 45))
        return result

    def uniform(self) -> float:
        """A double in [0, 1): the upper 53 bits."""
        return (self.next() >> 11) * 2.0**-53

    def below(self, count: int) -> int:
        """An integer in [0, count) without bias (rejection on the top bits)."""
        limit = (1 << 64) - (1 << 64) % count
        while (drawn := self.next()) >= limit:
            pass
        return drawn % count

    def normal(self) -> float:
        """A standard normal number (Box-Muller, the cosine half)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list in random order (Fisher-Yates from the end)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def _rotate_left(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def finite_number(value: object) -> float | None:
    """A number of somebody else's JSON as a float; None for what is none or not finite.

    A whole number of JSON may be larger than any float.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones; refuses nothing at all."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2.0


def lower_median(values: Sequence[float]) -> float:
    """The middle value, or the lower of the two middle ones: always one of the values."""
    return sorted(values)[(len(values) - 1) // 2]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the data lies, linear between order statistics.

    Definition 7 of Hyndman and Fan (1996), which numpy uses by default.
    """
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def mad(values: Sequence[float]) -> float:
    """The median absolute deviation from the median, not scaled to a normal."""
    centre = median(values)
    return median([abs(value - centre) for value in values])


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, exact before the last rounding."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """The sample standard deviation (n - 1); needs two values."""
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def interpolate_log(points: Sequence[tuple[float, float]], at: float) -> float:
    """The value at ``at``, linear in log(x) between points and constant outside them.

    ``points`` are (x, y) with x > 0, ascending and without repeats.
    """
    index = bisect_left([x for x, _ in points], at)
    if index == 0:
        return points[0][1]
    if index == len(points):
        return points[-1][1]
    (x0, y0), (x1, y1) = points[index - 1], points[index]
    return y0 + (y1 - y0) * math.log(at / x0) / math.log(x1 / x0)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b) (DLMF 8.17.22, Lentz's method)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return math.exp(log_front) / (a * _beta_fraction(a, b, x))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """1 + d1/(1 + d2/(1 + …)) of DLMF 8.17.22."""
    value, upper, lower = 1.0, 1.0, 0.0
    for term in range(1, _BETA_TERMS):
        half, odd = divmod(term, 2)
        if odd:
            step = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            step = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        lower = 1.0 / _nonzero(1.0 + step * lower)
        upper = _nonzero(1.0 + step / upper)
        value *= upper * lower
        if abs(upper * lower - 1.0) < 1e-16:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def student_t_tail(t: float, degrees: float) -> float:
    """P(T > t) for Student's t with ``degrees`` > 0 of freedom (DLMF 8.17)."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    square = t * t
    if square < degrees:
        inside = 0.5 * incomplete_beta(0.5, degrees / 2.0, square / (degrees + square))
        return 0.5 - math.copysign(inside, t)
    half = 0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + square))
    return half if t > 0.0 else 1.0 - half


@lru_cache(maxsize=4096)
def student_t_quantile(share: float, degrees: float) -> float:
    """The t below which ``share`` of Student's t with ``degrees`` of freedom lies."""
    if share < 0.5:
        return -student_t_quantile(1.0 - share, degrees)
    tail = 1.0 - share
    low, high = 0.0, 1.0
    while student_t_tail(high, degrees) > tail:
        low, high = high, high * 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if student_t_tail(middle, degrees) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """P-values corrected for a family, in the order given (Holm, 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    reached = 0.0
    for step, index in enumerate(order):
        reached = max(reached, min(1.0, p_values[index] * (len(p_values) - step)))
        corrected[index] = reached
    return tuple(corrected)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A log ratio with its standard error and degrees of freedom."""

    log_ratio: float
    standard_error: float
    degrees: float

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the two-sided Student t interval, in log units."""
        share = 0.5 + confidence / 2.0
        return student_t_quantile(share, self.degrees) * self.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The two-sided interval of the log ratio."""
        half = self.half_width(confidence)
        return self.log_ratio - half, self.log_ratio + half


Rounds = Sequence[float]
Generations = Sequence[Rounds]


def round_medians(samples: Sequence[Sequence[Sequence[float]]]) -> tuple[tuple[float, ...], ...]:
    """The median of each round; ``samples`` are generation > round > sample."""
    return tuple(tuple(median(one) for one in rounds) for rounds in samples)


def generation_log_ratios(a: Generations, b: Generations) -> list[float]:
    """One log(a / b) a generation: the median over its paired rounds.

    ``a`` and ``b`` hold round medians by generation; pairs are those both have.
    Swapping the arguments negates every value exactly.
    """
    return [
        median([math.log(x) - math.log(y) for x, y in zip(rounds_a, rounds_b, strict=False)])
        for rounds_a, rounds_b in zip(a, b, strict=False)
        if rounds_a and rounds_b
    ]


def paired_log_ratio(a: Generations, b: Generations) -> Estimate:
    """The mean log(a / b) with the generation as the unit of replication.

    Rounds and samples inside a generation share a process and are not replicas, so
    only the spread between generations enters the standard error. Needs two generations.
    """
    effects = generation_log_ratios(a, b)
    error = deviation(effects) / math.sqrt(len(effects))
    return Estimate(mean(effects), error, len(effects) - 1)


def bootstrap_interval(
    generations: Generations,
    statistic: Callable[[Sequence[float]], float],
    random: Random,
    *,
    draws: int = 1000,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """A hierarchical percentile bootstrap, for drawing only: it decides no verdict.

    Each draw takes generations with replacement, then rounds within each of them.
    """
    drawn = []
    for _ in range(draws):
        pool: list[float] = []
        for _ in generations:
            rounds = generations[random.below(len(generations))]
            pool.extend(rounds[random.below(len(rounds))] for _ in rounds)
        drawn.append(statistic(pool))
    tail = (1.0 - confidence) / 2.0
    return quantile(drawn, tail), quantile(drawn, 1.0 - tail)
