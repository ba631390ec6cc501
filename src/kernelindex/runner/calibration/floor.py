"""The floor: the relative difference that identical work shows in a batch, by duration.

Each sentinel's A/A log ratios (one process against another, generation by generation) have
mean zero by construction. A batch has few of them, so their mean square is pooled with what
many batches measured (``LEAST``, worth ``PRIOR_DEGREES`` ratios): a quiet batch stays near
that, a noisy one rises well above it. The floor is the pooled deviation times Student's t at
95 % two-sided, and never below ``LEAST`` or two ticks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kernelindex import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Points = tuple[tuple[float, float], ...]

# 95th percentile of A/A ratios, by duration in ns. On a device: one H200, 2026-11-30
# (docs/guides/methodology.md). On a CPU: an allowance for machines that others use as well.
LEAST: Mapping[str, Points] = {
    "cuda": ((5_000.0, 0.02), (47_000.0, 0.0045), (141_000.0, 0.0025)),
    "cpu": ((5_000.0, 0.05), (50_000.0, 0.03), (500_000.0, 0.02), (5_000_000.0, 0.02)),
}
PRIOR_DEGREES = 10
_NORMAL_95 = 1.959964
_LARGEST = 0.5
_TICKS = 2.0


def least_floor(device: str, at_ns: float) -> float:
    """The smallest floor that is ever claimed at a duration, relative."""
    return stats.interpolate_log(LEAST["cuda" if device.startswith("cuda") else "cpu"], at_ns)


def ratio_bound(log_ratios: Sequence[float], least: float, confidence: float = 0.95) -> float:
    """What 95 % of further A/A ratios stay within, as a log ratio.

    ``least`` is that bound over many batches, a normal's 1.96 deviations.
    """
    prior = PRIOR_DEGREES * (math.log1p(least) / _NORMAL_95) ** 2
    degrees = PRIOR_DEGREES + len(log_ratios)
    variance = (prior + math.fsum(one * one for one in log_ratios)) / degrees
    return stats.student_t_quantile(0.5 + confidence / 2.0, degrees) * math.sqrt(variance)


def floor_points(
    ratios: Mapping[float, Sequence[float]], device: str, tick_ns: float
) -> list[list[float]]:
    """``[[median ns, relative floor], ...]`` ascending, from A/A log ratios by median.

    A sentinel without ratios has no point. Capped at 50 %, where a batch tells nothing.
    """
    points = []
    for at_ns in sorted(one for one in ratios if ratios[one]):
        usual = least_floor(device, at_ns)
        measured = math.expm1(min(1.0, ratio_bound(ratios[at_ns], usual)))
        least = max(usual, _TICKS * tick_ns / at_ns)
        points.append([at_ns, min(_LARGEST, max(measured, least))])
    return points


def pair_ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """A/A log ratios of two processes' medians, generation by generation."""
    return [math.log(one) - math.log(other) for one, other in zip(a, b, strict=False)]
