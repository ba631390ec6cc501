"""What a batch's self-checks must show, and which of them a calibration does not.

The probe that measures and the index that judges hold the same numbers against the same
limits: a runner's own word that it was within them is never enough. Standard library only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.stats import finite_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FLUSH = "flush"
_MOST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Limit:
    """The range in which a self-check's value must lie, bounds included."""

    low: float
    high: float
    unit: str

    def holds(self, value: float) -> bool:
        """Whether a value lies in it."""
        return self.low <= value <= self.high

    @property
    def text(self) -> str:
        """The range in words."""
        if math.isinf(self.high):
            return f"at least {self.low:.4g}"
        return f"{self.low:.4g} to {self.high:.4g}"


ON_DEVICE: Mapping[str, Limit] = {
    "tick": Limit(1.0, 2048.0, "ns"),
    "events": Limit(0.0, 10_000.0, "ns between two events"),
    "empty_launch": Limit(300.0, 30_000.0, "ns"),
    "queue_filled": Limit(0.9, 1.0, "of the calls"),
    "events_against_wall": Limit(0.93, 1.07, "of the wall clock"),
    "twice_the_spin": Limit(1.96, 2.04, "times as long"),
    "known_bytes": Limit(0.4, 1.02, "of nominal bandwidth"),
    FLUSH: Limit(1.1, math.inf, "cold over hot"),
    "known_flops": Limit(0.25, 1.05, "of nominal FLOP/s"),
    "a_a": Limit(0.9, 1.1, "of the same"),
}
ON_HOST: Mapping[str, Limit] = {
    "tick": Limit(1.0, 50_000.0, "ns"),
    "empty_call": Limit(0.1, 100_000.0, "ns"),
    "clock": Limit(0.999, 1.1, "of a 3 ms spin"),
    FLUSH: Limit(1.1, math.inf, "cold over hot"),
    "twice_the_work": Limit(1.6, 2.6, "times as long"),
    "a_a": Limit(0.8, 1.25, "of the same"),
    "matmul": Limit(0.05, 50_000.0, "GFLOP/s"),
}
"""Generous, since others share a processor."""


def limits_on(device: str) -> Mapping[str, Limit]:
    """Every self-check that a batch makes on ``cpu`` or ``cuda:<n>``, with its limit."""
    return ON_HOST if device == "cpu" else ON_DEVICE


def calibration_problems(calibration: Any, device: str) -> tuple[str, ...]:
    """What of a ``calibration.json`` is not inside its limits, in words; empty where all is.

    Derived from the raw numbers; whether the runner says that a check passed is not asked.
    A check that is missing or has no number is a problem too.
    """
    found = calibration if isinstance(calibration, dict) else {}
    checks = _objects(found.get("selfchecks"))
    problems = [] if checks else ["no self-check was made"]
    for one in checks:
        problems += _check_problems(one, limits_on(device))
    problems += _said(found)
    return tuple(dict.fromkeys(one[:_MOST_TEXT] for one in problems))


def _check_problems(selfcheck: Mapping[str, Any], limits: Mapping[str, Limit]) -> Iterator[str]:
    if selfcheck.get("problem"):
        first, _, _ = str(selfcheck["problem"]).partition(". ")
        yield f"a self-check was not made: {first}"
        return
    numbers = {
        str(one.get("name")): one.get("numbers") for one in _objects(selfcheck.get("checks"))
    }
    for name, limit in limits.items():
        value = _value(name, numbers.get(name))
        if value is None:
            yield f"{name} has no number, wanted {limit.text}"
        elif not limit.holds(value):
            yield f"{name} {value:.4g}, wanted {limit.text}"


def _value(name: str, numbers: Any) -> float | None:
    stated = numbers if isinstance(numbers, dict) else {}
    if name != FLUSH:
        return finite_number(stated.get("value"))
    cold, hot = finite_number(stated.get("cold_ns")), finite_number(stated.get("hot_ns"))
    return cold / hot if cold is not None and hot else None


def _said(calibration: Mapping[str, Any]) -> Iterator[str]:
    """Failures of the anchor and the sentinels, which the worker keeps in words."""
    anchor = calibration.get("anchor")
    for one in _texts(anchor.get("problems") if isinstance(anchor, dict) else None):
        yield f"the anchor failed: {one}"
    for sentinels in _objects(calibration.get("sentinels")):
        for one in _texts(sentinels.get("problems")):
            yield f"a sentinel failed: {one}"


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []
