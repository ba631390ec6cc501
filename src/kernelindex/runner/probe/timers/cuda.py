"""Device events around each call, behind a queue that is filled first.

Before the start event the device is kept busy (flushing the cache, and where that is too
short a spin kernel), so that the host has queued the whole call before the device reaches
its start. Whether it was so is asked of the driver for every call: ``Taken.filled``.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from kernelindex import stats
from kernelindex.runner.probe.timers import Step, Taken
from kernelindex.runner.probe.timers.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Callable

FLUSH_MULTIPLE = 3
_LONGEST_HOLD_NS = 50e6
_PAUSE_S = 0.0005
_STEPS_NS = (1024, 512, 500, 256, 128, 64, 32, 16, 8, 4)
_SYNC_PROBE_NS = 4e6


@dataclass(frozen=True, slots=True)
class Spin:
    """A kernel that keeps the device busy for a while without touching memory."""

    kernel: Callable[[int], Any]
    cycles_per_ns: float

    def hold(self, nanoseconds: float) -> None:
        """Queue about that much waiting, at most 50 ms."""
        if nanoseconds > 0:
            self.kernel(max(1, int(min(nanoseconds, _LONGEST_HOLD_NS) * self.cycles_per_ns)))


class Queue(Protocol):
    """What the timer asks of the driver: see ``timers.driver.Driver``."""

    def create_event(self) -> Any: ...

    def record(self, event: Any, stream: int) -> None: ...

    def reached(self, event: Any) -> bool: ...

    def elapsed_ns(self, start: Any, end: Any) -> float: ...

    def synchronize(self) -> None: ...


class CudaTimer:
    """Times calls on a stream of one device; make it before the candidate is imported.

    ``spin`` queues a kernel of that many cycles, ``flush`` a write and a read of a buffer.
    """

    name = "cuda_events"

    def __init__(
        self,
        driver: Queue,
        spin: Callable[[int], Any],
        flush: Step,
        *,
        flush_ns: float,
        stream: int = 0,
        clock: Callable[[], int] = time.perf_counter_ns,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        self.driver, self.stream, self.flush, self.flush_ns = driver, stream, flush, flush_ns
        self._pool: list[tuple[Any, Any]] = []
        self._clock, self._sleep = clock, sleep
        self.spin = Spin(spin, 1.0)
        self.spin = Spin(spin, self._measure_cycles_per_ns())
        self.tick_ns = self._measure_tick()

    def synchronize(self) -> None:
        """Wait for all work of the context, on every stream."""
        self.driver.synchronize()

    def take(
        self,
        count: int,
        ready: Callable[[int], Step],
        *,
        cold: bool,
        hold_ns: float = 0.0,
        lead_ns: float = 0.0,
        watch: Step | None = None,
    ) -> Taken:
        """See ``Timer``."""
        events = self._events(count)
        taken = Taken(filled=0)
        begun = self._clock()
        for index, (start, end) in enumerate(events):
            step = ready(index)
            taken.last = None
            self.spin.hold(hold_ns + (lead_ns if index == 0 else 0.0))
            if cold:
                self.flush()
            self._one(step, start, end, taken)
        self._wait(events[-1][1], watch)
        self.synchronize()
        taken.timed_ns = self._clock() - begun
        taken.samples_ns = [self.driver.elapsed_ns(start, end) for start, end in events]
        return taken

    def _one(self, step: Step, start: Any, end: Any, taken: Taken) -> None:
        driver, stream = self.driver, self.stream
        begun = self._clock()
        driver.record(start, stream)
        taken.last = step()
        driver.record(end, stream)
        taken.host_ns.append(self._clock() - begun)
        if taken.filled is not None and not driver.reached(start):
            taken.filled += 1

    def _wait(self, last: Any, watch: Step | None) -> None:
        """Wait for the device; the host has nothing to queue, so watching disturbs nothing."""
        while not self.driver.reached(last):
            if watch is not None:
                watch()
            self._sleep(_PAUSE_S)

    def find_pace(self, ready: Callable[[int], Step], *, cold: bool, sets: int) -> Pace:
        """How far the host must be ahead of calls like these; ``ready`` takes a set."""
        return find_pace(self, lambda at: ready(at % sets), cold=cold)

    def _events(self, count: int) -> list[tuple[Any, Any]]:
        create = self.driver.create_event
        while len(self._pool) < count:
            self._pool.append((create(), create()))
        return self._pool[:count]

    def _span_ns(self, step: Step, count: int = 1) -> float:
        """Shortest of ``count`` timings of one step."""
        return min(self.take(count, lambda _: step, cold=False, hold_ns=20_000).samples_ns)

    def _measure_cycles_per_ns(self) -> float:
        """Cycles of the spin kernel a ns, from two lengths so that launching cancels out."""
        short, long = 100_000, 1_100_000
        self._span_ns(lambda: self.spin.kernel(long), 3)
        spans = [self._span_ns(lambda n=n: self.spin.kernel(n), 3) for n in (short, long)]  # type: ignore[misc]
        return (long - short) / max(1.0, spans[1] - spans[0])

    def _measure_tick(self) -> float:
        """The tick of the device's events, ns: 120 spins of different lengths."""
        kernel = self.spin.kernel
        steps = [lambda n=n: kernel(n) for n in range(2_000, 50_000, 400)]
        return infer_tick(self.take(len(steps), lambda i: steps[i], cold=False).samples_ns)


def infer_tick(samples_ns: list[float]) -> float:
    """The greatest known step that nearly divides 95 % of the times, else their smallest gap."""
    times = [round(one) for one in samples_ns]
    for step in _STEPS_NS:
        if sum(time % step in (0, 1, step - 1) for time in times) >= 0.95 * len(times):
            return float(step)
    distinct = sorted(set(times))
    gaps = [after - before for before, after in itertools.pairwise(distinct)]
    return float(max(1, math.gcd(*gaps))) if gaps else 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How far the host must be ahead for one kind of call, found while warming up.

    ``hold_ns`` is queued before every call, ``lead_ns`` once before the first.
    ``synchronizes``: the call waits for the device itself, so that no queue can be filled.
    """

    hold_ns: float
    lead_ns: float
    host_ns: float
    synchronizes: bool

    def longer(self) -> Pace:
        """A pace for calls that were not queued in time: twice the hold, a tenth of it at least."""
        hold = min(_LONGEST_HOLD_NS, max(2.0 * self.hold_ns, 0.1 * self.host_ns + 5_000))
        return replace(self, hold_ns=hold, lead_ns=max(self.lead_ns, 2.0 * hold))

    def to_fields(self) -> dict[str, Any]:
        """The pace as it travels."""
        return asdict(self)


def find_pace(timer: CudaTimer, ready: Callable[[int], Step], *, cold: bool) -> Pace:
    """Measure a call's host time under two holds, and what the host lacks to keep ahead.

    A call that takes longer to issue by the difference of the holds waits for the device
    itself (or fills the launch queue). Else the hold makes up for what issuing takes more
    than the device's work, and a quarter of that again.
    """
    first = stats.median(timer.take(2, ready, cold=cold, hold_ns=2e6).host_ns)
    base = min(1.5 * first + 5e5, _LONGEST_HOLD_NS - _SYNC_PROBE_NS)
    held = timer.take(3, ready, cold=cold, hold_ns=base)
    longer = timer.take(3, ready, cold=cold, hold_ns=base + _SYNC_PROBE_NS)
    issue = stats.median(held.host_ns)
    if stats.median(longer.host_ns) - issue > 0.75 * _SYNC_PROBE_NS:
        return Pace(0.0, 0.0, issue, synchronizes=True)
    free = timer.take(4, ready, cold=cold)
    whole = min(free.timed_ns / 4, 1.5 * issue + 30_000)
    busy = stats.median(held.samples_ns) + (timer.flush_ns if cold else 0.0)
    hold = 1.25 * (whole - busy) if whole > 0.9 * busy else 0.0
    return Pace(max(0.0, hold), 3.0 * issue + 150_000, issue, synchronizes=False)


@dataclass(frozen=True, slots=True)
class Flush:
    """The cold cache regime: 3 x L2 of int32 are written, then read while clean.

    So dirty lines are written back before the call and not during it. Functions are bound
    before a candidate is imported.
    """

    buffer: Any
    kept: Any
    fill: Callable[[], Any]
    read: Callable[..., Any]

    def __call__(self) -> None:
        """Queue it."""
        self.fill()
        self.read(self.buffer, dim=0, out=self.kept)


def make_flush(device: str, l2_bytes: int) -> Flush:
    """A flush of three times ``l2_bytes`` on a device."""
    import torch

    count = max(1, FLUSH_MULTIPLE * l2_bytes // 4)
    buffer = torch.zeros(count, dtype=torch.int32, device=device)
    kept = torch.zeros((), dtype=torch.int32, device=device)
    return Flush(buffer, kept, buffer.zero_, torch.amax)


def open_cuda_timer(index: int) -> CudaTimer:
    """The timer of a device's default stream; raises DriverError where there is no driver.

    Writing and reading the flush's buffer is taken to run at 4 TB/s.
    """
    import torch

    torch.cuda.set_device(index)
    torch.zeros(1, device=f"cuda:{index}")  # makes the context and loads a first kernel
    driver = Driver()
    l2_bytes = driver.attribute("l2_bytes", index)
    flush = make_flush(f"cuda:{index}", l2_bytes)
    flush()
    driver.synchronize()
    about_ns = 2.0 * FLUSH_MULTIPLE * l2_bytes / 4000.0
    return CudaTimer(driver, torch.cuda._sleep, flush, flush_ns=about_ns)
