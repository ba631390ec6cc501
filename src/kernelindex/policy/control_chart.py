"""Control chart of a runner: whether a batch's values are what its earlier batches had.

An individuals chart (Shewhart; NIST/SEMATECH e-Handbook 6.3.2.2): centre = mean of the earlier
values, limits = centre ± 3 x (mean moving range / 1.128). The first 20 batches of a runner are
provisional: nothing is claimed to be inside, and a value may still be outside. A batch that
was outside does not shape the limits of those after it, so a change that lasts (another
driver, say) is outside until the machine is a runner anew. Calibrations come from whoever
signed them: what is not of their form counts as not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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

    @property
    def text(self) -> str:
        """The value and its limits in words."""
        low, high = self.limits.low, self.limits.high
        return (
            f"{self.name} {self.value:.4g}, by {self.limits.count} earlier batches wanted"
            f" {low:.4g} to {high:.4g}"
        )


@dataclass(frozen=True, slots=True)
class ChartVerdict:
    """Where a batch stands: ``inside``, ``outside`` or ``provisional`` (too few before it).

    ``batches`` is how many before it were inside.
    """

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


@dataclass(slots=True)
class _History:
    """Values of one name so far: enough to say where the next one is expected."""

    count: int = 0
    total: float = 0.0
    ranges: float = 0.0
    last: float = 0.0

    def add(self, value: float) -> None:
        self.ranges += abs(value - self.last) if self.count else 0.0
        self.count, self.total, self.last = self.count + 1, self.total + value, value

    def limits(self) -> Limits | None:
        if self.count < LEAST_FOR_LIMITS:
            return None
        centre = self.total / self.count
        moving = self.ranges / (self.count - 1)
        sigma = max(moving / _D2, _LEAST_RELATIVE * abs(centre))
        return Limits(centre - _SIGMAS * sigma, centre, centre + _SIGMAS * sigma, self.count)


def make_limits(values: Sequence[float]) -> Limits | None:
    """Limits from earlier values in order; None below five of them.

    The sigma is at least 0.5 % of the centre, so that a run of equal values does not make
    limits that nothing can meet.
    """
    history = _History()
    for value in values:
        history.add(value)
    return history.limits()


def judge_in_order(batches: Iterable[Mapping[str, float]]) -> list[ChartVerdict]:
    """Hold each batch's values (anchor, self-checks) against those before it that were inside."""
    histories: dict[str, _History] = {}
    verdicts: list[ChartVerdict] = []
    count = 0
    for values in batches:
        outside = tuple(_outside(histories, values))
        status = "provisional" if count < PROVISIONAL_BATCHES else "inside"
        verdicts.append(ChartVerdict("outside" if outside else status, outside, count))
        if not outside:
            count += 1
            for name, value in values.items():
                histories.setdefault(name, _History()).add(value)
    return verdicts


def _outside(histories: Mapping[str, _History], values: Mapping[str, float]) -> Iterator[Outside]:
    for name in sorted(values):
        limits = histories[name].limits() if name in histories else None
        if limits is not None and not limits.contains(values[name]):
            yield Outside(name, values[name], limits)


def chart_values(calibration: Any) -> dict[str, float]:
    """What a batch's ``calibration.json`` gives the chart: the anchor's time, self-check values.

    The anchor's is the median of its rounds' medians, a value the median over the self-checks.
    A time of so few ticks that one more is beyond the narrowest limits is left out.
    """
    stated = _object(calibration)
    anchor = _object(stated.get("anchor"))
    found: dict[str, list[float]] = {}
    for one in _lists(anchor.get("medians")):
        found.setdefault(f"ns of {anchor.get('id')}"[:200], []).extend(_numbers(one))
    for check in _lists([stated.get("selfchecks")]):
        for one in check:
            for name, value in _object(_object(one).get("values")).items():
                found.setdefault(str(name)[:200], []).extend(_numbers([value]))
    ticks = _numbers([stated.get("tickNs")])
    least_ns = max(ticks, default=0.0) / (_SIGMAS * _LEAST_RELATIVE)
    medians = {name: stats.median(values) for name, values in sorted(found.items()) if values}
    return {n: one for n, one in medians.items() if not n.endswith("_ns") or one >= least_ns}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _lists(value: Any) -> list[list[Any]]:
    return [one for one in value if isinstance(one, list)] if isinstance(value, list) else []


def _numbers(values: list[Any]) -> list[float]:
    found = map(stats.finite_number, values)
    return [one for one in found if one is not None]
