"""Warming up and measuring: cache and load regimes round the timer.

Rules, fixed beforehand: warm-up ends when its seconds and calls are reached and the medians of
its last two stretches differ by less than 2 %, or after four times its seconds (not steady).
After a switch, calls are made until both counts of the request are reached; they do not count.
``burst`` then idles and takes the first samples; ``sustained`` goes on back to back, in a cold
cache with work in its gaps where the plan's rule says so: before the flush, so that the cache is
as cold as ever. A hot cache would not stay so.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex import stats
from kernelindex.runner.probe.choosing import Choice, Kept, draw_unit
from kernelindex.runner.probe.order import Order
from kernelindex.runner.probe.telemetry import Sensors, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.timers import Step, Taken, Timer
    from kernelindex.runner.probe.work import Work

STEADY = 0.02
BURST_SAMPLES = 10
_LONGEST_WARMUP = 4.0
_STRETCH_SECONDS = 0.05
_LOOK_EVERY_NS = 20_000_000
_LEAST_FILLED = 0.9
_SLOW_HOST = 2.0


@dataclass(frozen=True, slots=True)
class Regime:
    """How the calls of one measurement are made."""

    cache: str = "cold"
    load: str = "sustained"
    execution: str = "eager"

    @property
    def cold(self) -> bool:
        """Whether the cache is flushed before every call."""
        return self.cache == "cold"

    @property
    def worked(self) -> bool:
        """Whether gaps may be worked: under sustained load, before a flush."""
        return self.cold and self.load == "sustained"


@dataclass(frozen=True, slots=True)
class Warmed:
    """What warming up found: the first call's time, calls made, and whether it became steady."""

    first_call_ns: int
    calls: int
    steady: bool
    median_ns: float
    seconds: float


@dataclass(slots=True)
class Measured:
    """Samples of one measurement; ``order`` is the set of each sample's last call.

    ``kept`` is what one of those calls left.
    """

    taken: Taken
    order: list[int]
    telemetry: dict[str, Any]
    cycles: list[float] | None
    switch_calls: int
    pace: dict[str, Any]
    kept: Kept | None

    def to_fields(self) -> dict[str, Any]:
        """The fields of the reply."""
        return {
            "samples_ns": self.taken.samples_ns,
            "cycles": self.cycles,
            "order": self.order,
            "timed_ns": self.taken.timed_ns,
            "telemetry": self.telemetry,
            "batch": self.taken.batch,
            "queue_filled": self.taken.filled,
            "host_ns": stats.median(self.taken.host_ns) if self.taken.host_ns else None,
            "switch_calls": self.switch_calls,
            "pace": self.pace,
        }


@dataclass(slots=True)
class Meter:
    """A timer with sensors; keeps, for every kind of call, how far the host must be ahead."""

    timer: Timer
    sensors: Sensors
    reset_cache: Callable[[], None] = lambda: None
    seed: Callable[[], int] = lambda: secrets.randbits(64)
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = draw_unit
    paces: dict[tuple[str, bool], Any] = field(default_factory=dict)

    def warm(self, work: Work, key: str, regime: Regime, seconds: float, calls: int) -> Warmed:
        """Call until steady; the first call's time includes compiling and waiting for it.

        With no ``seconds`` it only compiles: others may be at work beside, so nothing is learnt.
        """
        begun = time.perf_counter_ns()
        work.ready(0)()
        self.timer.synchronize()
        first = time.perf_counter_ns() - begun
        if seconds > 0:
            self._find_pace(work, key, regime)
        stretches, done = self._stretch_until(work, key, regime, seconds, calls)
        spent = (time.perf_counter_ns() - begun) / 1e9
        return Warmed(first, done + 1, is_steady(stretches), stretches[-1], spent)

    def _stretch_until(
        self, work: Work, key: str, regime: Regime, seconds: float, calls: int
    ) -> tuple[list[float], int]:
        """Medians of stretches of about 50 ms until warm, and the calls made."""
        begun, done, size = time.perf_counter(), 0, 3
        order = Order(work.count, self.seed())
        medians: list[float] = []
        while True:
            taken = self._take(work, key, regime, size, self._choice(work, order))
            done += size * taken.batch
            medians.append(stats.median(taken.samples_ns))
            elapsed = time.perf_counter() - begun
            if elapsed >= seconds and done >= calls and is_steady(medians):
                return medians, done
            if elapsed >= _LONGEST_WARMUP * seconds and done >= calls:
                return medians, done
            size = stretch_size(size, taken)

    def measure(
        self,
        work: Work,
        key: str,
        regime: Regime,
        calls: int,
        *,
        switch_calls: int = 0,
        switch_seconds: float = 0.0,
        idle_seconds: float = 0.1,
    ) -> Measured:
        """Time ``calls`` calls, ten at most in a burst, after the switch's warm-up."""
        if (key, regime.cold) not in self.paces:
            work.ready(0)()
            self._find_pace(work, key, regime)
        order = Order(work.count, self.seed())
        self.reset_cache()
        watch = Watch(self.sensors).start()  # before the switch: between them would be idle time
        switched = self._switch(work, key, regime, switch_calls, switch_seconds)
        if regime.load == "burst":
            calls = min(calls, BURST_SAMPLES)
            self.timer.synchronize()
            self.sleep(idle_seconds)
        choice = self._choice(work, order)
        taken = self._take(work, key, regime, max(1, calls), choice, limited(watch.look))
        watch.stop()
        self._adapt(key, regime, taken)
        sets = [order.at((at + 1) * taken.batch - 1) for at in range(len(taken.samples_ns))]
        return Measured(
            taken=taken,
            order=sets,
            telemetry=watch.report(),
            cycles=_cycles(taken, watch),
            switch_calls=switched,
            pace=self._pace_facts(key, regime) | taken.gaps,
            kept=choice.kept,
        )

    def _switch(self, work: Work, key: str, regime: Regime, calls: int, seconds: float) -> int:
        """Calls after a switch that count for nothing, in stretches of about 50 ms."""
        done, size, begun = 0, max(1, min(3, calls)), time.perf_counter()
        order = Order(work.count, self.seed())
        while done < calls or time.perf_counter() - begun < seconds:
            taken = self._take(work, key, regime, size, self._choice(work, order))
            done += size
            size = stretch_size(size, taken)
        return done

    def block(self, work: Work, calls: int) -> None:
        """Calls back to back and a wait for the device, for the worker's own clock.

        It includes making calls ready, zeroing of gradients that accumulate among it; so does
        the pace of a queue, which thereby holds a little longer.
        """
        self._issue(work, calls)
        self.timer.synchronize()

    def issue(self, work: Work, calls: int) -> None:
        """Calls back to back to an idle device, and no wait for it."""
        self.timer.synchronize()
        self._issue(work, calls)

    def _issue(self, work: Work, calls: int) -> None:
        order = Order(work.count, self.seed())
        for at in range(calls):
            work.ready(order.at(at))()

    def _take(
        self,
        work: Work,
        key: str,
        regime: Regime,
        count: int,
        choice: Choice,
        watch: Step | None = None,
    ) -> Taken:
        def ready(at: int) -> Step:
            return work.ready(choice.set_of(at))

        pace = self.paces.get((key, regime.cold))
        if pace is None:
            return self.timer.take(
                count,
                ready,
                cold=regime.cold,
                watch=watch,
                worked=regime.worked,
                offer=choice.offer,
            )
        hold, lead = pace.hold_ns, pace.lead_ns
        if regime.load == "burst":  # a host that idled is slow: all of the burst is queued ahead
            lead += _SLOW_HOST * count * pace.host_ns
        return self.timer.take(
            count,
            ready,
            cold=regime.cold,
            hold_ns=hold,
            lead_ns=lead,
            watch=watch,
            worked=regime.worked,
            offer=choice.offer,
        )

    def _choice(self, work: Work, order: Order) -> Choice:
        return Choice(work, order.at, self.draw)

    def _find_pace(self, work: Work, key: str, regime: Regime) -> None:
        """Only a device has a queue to fill; of a host it is noted that there is none.

        So no measurement after the first makes an untimed call on the contents it measures:
        who answers timed calls from memory would be right on that set.
        """
        find = getattr(self.timer, "find_pace", None)
        pace = find(work.ready, cold=regime.cold, sets=work.count) if find is not None else None
        self.paces[key, regime.cold] = pace

    def _adapt(self, key: str, regime: Regime, taken: Taken) -> None:
        """Hold longer next time where too many calls were reached before they were queued."""
        pace = self.paces.get((key, regime.cold))
        if pace is None or taken.filled is None or pace.synchronizes:
            return
        if taken.filled < _LEAST_FILLED * len(taken.samples_ns):
            self.paces[key, regime.cold] = pace.longer()

    def _pace_facts(self, key: str, regime: Regime) -> dict[str, Any]:
        pace = self.paces.get((key, regime.cold))
        return {} if pace is None else pace.to_fields()


def stretch_size(size: int, taken: Taken) -> int:
    """How many calls take about 50 ms, from those just taken; 3 to 200."""
    return max(3, min(200, int(size * _STRETCH_SECONDS * 1e9 / max(1, taken.timed_ns))))


def is_steady(medians: list[float]) -> bool:
    """Whether the last two stretches agree to 2 %."""
    if len(medians) < 2:
        return False
    before, last = medians[-2:]
    return abs(last - before) <= STEADY * max(before, last)


def limited(look: Step, every_ns: int = _LOOK_EVERY_NS) -> Step:
    """``look`` at once and then at most every 20 ms."""
    due = 0

    def sometimes() -> None:
        nonlocal due
        now = time.perf_counter_ns()
        if now >= due:
            look()
            due = now + every_ns

    return sometimes


def _cycles(taken: Taken, watch: Watch) -> list[float] | None:
    clock = watch.clock_mhz()
    return None if clock is None else [one * clock / 1e3 for one in taken.samples_ns]
