"""How large a difference must be before it means anything.

Two regimes (measuring notes in docs/guides/methodology.md): a *tolerance* for reported
numbers, from how well their source repeats itself, and a *margin* for controlled runs,
from what identical code measures in the same batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.stats import interpolate_log

if TYPE_CHECKING:
    from kernelindex.policy.samples import Samples
    from kernelindex.registry.sources_info import SourceInfo

LEAST_TOLERANCE = 0.05
TICKS_IN_MARGIN = 2.0
NS_PER_UNIT = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The difference below which two reported numbers of one cohort say nothing.

    ``relative``  of the smaller value, at least 0.05
    ``tick``      resolution of the timer in the primary unit; 0 where it has none
    ``basis``     where ``relative`` comes from, in words
    """

    relative: float = LEAST_TOLERANCE
    tick: float = 0.0
    basis: str = "the least tolerance, 5 %"

    def reach(self, smaller: float) -> float:
        """The largest value that is not decisively above ``smaller`` (never decreasing)."""
        return smaller + max(self.relative * abs(smaller), self.tick)

    def separates(self, one: float, other: float) -> bool:
        """Whether two values differ decisively; the order of arguments does not matter."""
        return max(one, other) > self.reach(min(one, other))


def source_dispersion(source: SourceInfo | None) -> float | None:
    """How far a source's repeats of one entry differ, relative; ``None`` without repeats.

    The larger of the 90th percentile over entries and the 95th over pairs, so that at most
    one repeat pair in twenty comes out decisive.
    """
    if source is None or source.dispersion is None:
        return None
    return max(source.dispersion.p90_relative, source.dispersion.p95_pair_relative)


def build_tolerance(
    dispersion: float | None, *, tick_ns: float | None = None, unit: str = "ns"
) -> Tolerance:
    """The tolerance of a source whose repeats of one entry differ by ``dispersion``.

    ``None`` where the source has no repeats; ``unit`` is the primary unit, so that the
    tick counts for times only.
    """
    tick = (tick_ns or 0.0) / NS_PER_UNIT[unit] if unit in NS_PER_UNIT else 0.0
    if dispersion is None or dispersion <= LEAST_TOLERANCE:
        return Tolerance(tick=tick)
    basis = f"the source's own repeats differ by {dispersion:.1%}"
    return Tolerance(relative=dispersion, tick=tick, basis=basis)


def margin_at(samples: Samples, duration_ns: float) -> float:
    """The relative margin of a batch at one duration: sentinels' floor and two ticks."""
    floor = interpolate_log(samples.floor, duration_ns) if samples.floor else LEAST_TOLERANCE
    return max(floor, TICKS_IN_MARGIN * samples.tick_ns / duration_ns)


def log_margin(a: Samples, b: Samples, a_ns: float, b_ns: float) -> float:
    """The margin of a pair in log units: the larger of the two candidates' margins."""
    return math.log1p(max(margin_at(a, a_ns), margin_at(b, b_ns)))
