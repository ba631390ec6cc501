"""The host's clock round each call; short calls are timed several at once.

A sample is never shorter than 200 ticks of the clock: below that, calls are batched (hot
cache only, since a flush belongs before every call). No garbage is collected from the first
sample to the last (``probe.collector``): not inside of one, nor untimed between two.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from kernelindex.runner.probe.collector import Collector
from kernelindex.runner.probe.host_cache import HostCache
from kernelindex.runner.probe.timers import Offer, Step, Taken, ignore

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_TICKS = 200
_LARGEST_BATCH = 10_000


class HostTimer:
    """Times calls with ``perf_counter_ns``; make it before the candidate is imported."""

    name = "perf_counter_ns"

    def __init__(self, cache: HostCache | None = None) -> None:
        self._clock = time.perf_counter_ns
        self.collector = Collector(stops=True)
        self.cache = cache or HostCache()
        self.tick_ns = measure_tick_ns(self._clock)

    def to_fields(self) -> dict[str, Any]:
        """Its name and its tick."""
        return {"name": self.name, "tick_ns": self.tick_ns}

    def synchronize(self) -> None:
        """Nothing to wait for: a host's call is over when it returns."""

    def take(
        self,
        count: int,
        ready: Callable[[int], Step],
        *,
        cold: bool,
        hold_ns: float = 0.0,
        lead_ns: float = 0.0,
        watch: Step | None = None,
        worked: bool = False,
        offer: Offer = ignore,
    ) -> Taken:
        """Time ``count`` samples; a sample of a short call in a hot cache is a mean of several."""
        taken = Taken()
        begun = self._clock()
        with self.collector.quieted():
            taken.batch = 1 if cold else self._batch(ready)
            self._samples(count, ready, taken, cold=cold, watch=watch, offer=offer)
        taken.timed_ns = self._clock() - begun
        return taken

    def _samples(
        self,
        count: int,
        ready: Callable[[int], Step],
        taken: Taken,
        *,
        cold: bool,
        watch: Step | None,
        offer: Offer,
    ) -> None:
        for index in range(count):
            self.collector.quiet()
            steps = [ready(index * taken.batch + one) for one in range(taken.batch)]
            taken.last = None
            if cold:
                self.cache.flush()
            spent = self._one(steps, taken)
            taken.samples_ns.append(spent / taken.batch)
            taken.host_ns.append(spent)
            offer((index + 1) * taken.batch - 1, taken.last)
            if watch is not None:
                watch()

    def _one(self, steps: list[Step], taken: Taken) -> int:
        result: Any = None
        clock = self._clock
        begun = clock()
        for step in steps:
            result = step()
        spent = clock() - begun
        self.collector.quiet()
        taken.last = result
        return spent

    def _batch(self, ready: Callable[[int], Step]) -> int:
        """Calls a sample, from one call that counts for nothing."""
        spent = max(1, self._one([ready(0)], Taken()))
        wanted = math.ceil(_LEAST_TICKS * self.tick_ns / spent)
        return max(1, min(_LARGEST_BATCH, wanted))


def measure_tick_ns(clock: Callable[[], int], readings: int = 2000) -> float:
    """The smallest step a clock was seen to make, ns: the median of its least steps."""
    steps = []
    for _ in range(readings):
        before = clock()
        after = clock()
        while after == before:
            after = clock()
        steps.append(after - before)
    return float(sorted(steps)[readings // 20])
