"""What the device or the machine reports while something is measured on it.

Read before and after, and in between only while the host waits for the device with nothing
left to queue: a reading takes a driver lock and host time, so it is kept out of the way of
launches. (A thread would share the interpreter's lock with the code that is timed.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from kernelindex import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Reading = dict[str, Any]
COVERS = "warm-up after the switch, idling, gaps, flushes and calls"
RANGES = ("sm_mhz", "memory_mhz", "power_w", "temperature_c")


class Sensors(Protocol):
    """A source of readings."""

    def quick(self) -> Reading:
        """Clocks (MHz), power (W), temperature (C), reasons, energy (J); what there is of it."""

    def slow(self) -> Reading:
        """``quick``, and memory errors and processes on the device."""


@dataclass(slots=True)
class Watch:
    """Readings round one measurement: ``start``, any number of ``look``, ``stop``."""

    sensors: Sensors
    before: Reading = field(default_factory=dict)
    during: list[Reading] = field(default_factory=list)
    after: Reading = field(default_factory=dict)

    def start(self) -> Watch:
        """Read before: quickly, since a process count takes 10 ms on an H200."""
        self.before = self._timed(self.sensors.quick)
        return self

    def look(self) -> None:
        """Read now; call it while the host only waits."""
        self.during.append(self._timed(self.sensors.quick))

    def stop(self) -> None:
        """Read after."""
        self.after = self._timed(self.sensors.slow)

    @staticmethod
    def _timed(read: Any) -> Reading:
        begun = time.perf_counter_ns()
        found: Reading = read()
        return {"at_ns": begun, "cost_ns": time.perf_counter_ns() - begun, **found}

    def report(self) -> dict[str, Any]:
        """All readings, and their summary in the terms of a run's telemetry.

        ``covers`` is in it because the energy counted between the first reading and the last is
        not that of the calls: a call's own joules are measured apart (``probe.traits``).
        """
        return {
            "covers": COVERS,
            "before": self.before,
            "during": self.during,
            "after": self.after,
            "summary": summarize([self.before, *self.during, self.after], self.during),
        }

    def clock_mhz(self) -> float | None:
        """The median multiprocessor clock while it worked, MHz; None where none was read."""
        seen = [one["sm_mhz"] for one in self.during if one.get("sm_mhz")]
        return stats.median(seen) if seen else None


def summarize(readings: Sequence[Reading], during: Sequence[Reading]) -> dict[str, Any]:
    """Ranges over the readings taken while working, else over all; reasons and counts of all."""
    made: dict[str, Any] = {}
    for name in RANGES:
        seen = [one[name] for one in during if name in one]
        seen = seen or [one[name] for one in readings if name in one]
        if seen:
            made[name] = _range(seen)
    reasons = sorted({reason for one in readings for reason in one.get("reasons", ())})
    made["throttle_reasons"] = [one for one in reasons if one not in ("gpu_idle",)]
    for name in ("processes", "ecc_errors"):
        counts = [one[name] for one in readings if one.get(name) is not None]
        if counts:
            made[name] = max(counts)
    energy = _difference(readings, "energy_j")
    if energy is not None:
        made["energy_j"] = energy
    return made


def _range(seen: Sequence[float]) -> Mapping[str, float]:
    return {
        "minimum": min(seen),
        "median": stats.median(seen),
        "mean": stats.mean(seen),
        "maximum": max(seen),
        "samples": len(seen),
    }


def _difference(readings: Sequence[Reading], name: str) -> float | None:
    seen = [one[name] for one in readings if one.get(name) is not None]
    return float(seen[-1] - seen[0]) if len(seen) > 1 else None
