"""Control chart of a runner: whether a batch's values are what its earlier batches had.

An individuals chart (Shewhart; NIST/SEMATECH e-Handbook 6.3.2.2): centre = mean of the earlier
values, limits = centre ± 3 x (mean moving range / 1.128). The first 20 batches of a runner are
provisional: nothing is claimed to be inside, and a value may still be outside.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kernelindex import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROVISIONAL_BATCHES = 20
LEAST_FOR_LIMITS = 5
_SIGMAS = 3.0
_D2 = 1.128
_LEAST_RELATIVE = 0.005


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a value is expected; ``count`` is how many earlier values say so."""

    low: float
    centre: float
    high: float
    count: int

    def contains(self, value: float) -> bool:
        """Whether a value is inside."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Outside:
    """A value outside its limits."""

    name: str
    value: float
    limits: Limits


@dataclass(frozen=True, slots=True)
class ChartVerdict:
    """Where a batch stands: ``inside``, ``outside`` or ``provisional`` (too few before it)."""

    status: str
    outside: tuple[Outside, ...]
    batches: int

    @property
    def within_limits(self) -> bool:
        """Whether nothing speaks against the batch; a provisional one may be within."""
        return not self.outside

    @property
    def provisional(self) -> bool:
        """Whether fewer than 20 batches came before."""
        return self.batches < PROVISIONAL_BATCHES

    def to_fields(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self) | {
            "within_limits": self.within_limits,
            "provisional": self.provisional,
        }


def make_limits(values: Sequence[float]) -> Limits | None:
    """Limits from earlier values in order; None below five of them.

    The sigma is at least 0.5 % of the centre, so that a run of equal values does not make
    limits that nothing can meet.
    """
    if len(values) < LEAST_FOR_LIMITS:
        return None
    centre = stats.mean(values)
    ranges = [abs(after - before) for before, after in itertools.pairwise(values)]
    sigma = max(stats.mean(ranges) / _D2, _LEAST_RELATIVE * abs(centre))
    return Limits(centre - _SIGMAS * sigma, centre, centre + _SIGMAS * sigma, len(values))


def judge_batch(
    earlier: Sequence[Mapping[str, float]], values: Mapping[str, float]
) -> ChartVerdict:
    """Hold a batch's values (anchor, self-checks) against those of earlier batches, in order."""
    outside = []
    for name in sorted(values):
        limits = make_limits([one[name] for one in earlier if name in one])
        if limits is not None and not limits.contains(values[name]):
            outside.append(Outside(name, values[name], limits))
    if outside:
        status = "outside"
    else:
        status = "provisional" if len(earlier) < PROVISIONAL_BATCHES else "inside"
    return ChartVerdict(status, tuple(outside), len(earlier))


def chart_values(calibration: Mapping[str, Any]) -> dict[str, float]:
    """What a batch's ``calibration.json`` gives the chart: ``anchor_ns`` and self-check values.

    The anchor's is the median of its rounds' medians, a value the median over the self-checks.
    """
    made: dict[str, float] = {}
    rounds = [one for part in (calibration.get("anchor") or {}).get("medians", ()) for one in part]
    if rounds:
        made["anchor_ns"] = stats.median(rounds)
    checks = [one.get("values") or {} for one in calibration.get("selfchecks", ())]
    for name in sorted({name for one in checks for name in one}):
        made[name] = stats.median([float(one[name]) for one in checks if name in one])
    return made
