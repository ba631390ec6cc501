"""What else ran on a host while a batch was timed, from the readings that its series kept.

One process of a batch is timed at a time, so whatever else waits for a core then disturbs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.stats import finite_number, median

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernelindex.runner.recording import Batch

UNSETTLED = frozenset(("unstable", "aborted"))
"""Statuses of a run that doubt its time and not its result."""
_BUSY_OTHERS = 2.0
"""Others that want a core at the end of half of the rounds; one is seen on an idle machine, too."""
_LOAD_BEYOND_CORES = 1.0
"""A trial alone keeps a load of about two on two cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Medians over the timed rounds; None where nothing was read, as on a GPU machine.

    ``load`` is the system's average over a minute, this batch included; ``others`` are
    threads that wanted a core just after a round, the reader not counted.
    """

    cores: int | None
    load: float | None
    others: float | None
    threads: str | None

    @property
    def busy(self) -> bool:
        """Whether other work took the cores away."""
        if self.others is not None and self.others >= _BUSY_OTHERS:
            return True
        if self.load is None or self.cores is None:
            return False
        return self.load > self.cores + _LOAD_BEYOND_CORES

    @property
    def text(self) -> str:
        """What was seen, in words; empty where nothing was read."""
        if self.load is None:
            return ""
        cores = "" if self.cores is None else f" on {self.cores} cores"
        if self.others is None:
            return f"load {self.load:.1f}{cores}"
        threads = "thread" if round(self.others) == 1 else "threads"
        return f"load {self.load:.1f}{cores}, {self.others:.0f} other {threads} waiting for one"


def read_surroundings(batch: Batch) -> Surroundings:
    """The surroundings of a batch on a host; of one on a GPU nothing is said."""
    readings = [] if batch.on_device else list(_readings(batch))
    cpu = batch.facts.get("cpu") or {}
    cores = finite_number(cpu.get("logical_cores"))
    runnable = _median_of(readings, "runnable")
    stated = batch.facts.get("environment_variables") or {}
    return Surroundings(
        cores=None if cores is None else int(cores),
        load=_median_of(readings, "load"),
        others=None if runnable is None else max(0.0, runnable - 1.0),
        threads=stated.get("OMP_NUM_THREADS"),
    )


def _readings(batch: Batch) -> Iterator[dict[str, Any]]:
    """The reading after each timed round of every series; they came through candidates."""
    for series in batch.series:
        for rounds in series.found.get("telemetry") or ():
            for one in rounds or ():
                after = one.get("after") if isinstance(one, dict) else None
                if isinstance(after, dict):
                    yield after


def _median_of(readings: list[dict[str, Any]], name: str) -> float | None:
    stated = [finite_number(one.get(name)) for one in readings]
    values = [one for one in stated if one is not None and one >= 0.0]
    return median(values) if values else None
