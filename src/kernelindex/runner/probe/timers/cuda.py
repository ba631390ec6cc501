"""Device events around each call, behind a queue that is filled first.

Before the start event the device is kept busy (flushing the cache, and where that is too
short a gap of spinning or of work: ``timers.gaps``), so that the host has queued the whole call
before the device reaches its start. Whether it was so is asked of the driver for every call:
``Taken.filled``.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from kernelindex import stats
from kernelindex.runner.probe.collector import Collector
from kernelindex.runner.probe.timers import Offer, Step, Taken, ignore
from kernelindex.runner.probe.timers.driver import Driver
from kernelindex.runner.probe.timers.gaps import (
    LEAST_CAPABILITY,
    LONGEST_NS,
    SPUN,
    WORKED,
    Filler,
    Gap,
    Piece,
    Spin,
    make_products,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FLUSH_MULTIPLE = 3
_PAUSE_S = 0.0005
_STEPS_NS = (1024, 512, 500, 256, 128, 64, 32, 16, 8, 4)
_SYNC_PROBE_NS = 4e6
_PIECE_SAMPLES = 5


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
    ``filler`` is there where gaps are worked; ``why_spun`` says why not, where it was asked for.
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
        self.collector = Collector(stops=False)
        self.filler: Filler | None = None
        self._products: Sequence[tuple[int, Step]] = ()
        self.why_spun = ""
        self.spin = Spin(spin, 1.0)
        self.spin = Spin(spin, self._measure_cycles_per_ns())
        self.tick_ns = self._measure_tick()

    def to_fields(self) -> dict[str, Any]:
        """Its name, its tick, and what its gaps can be filled with: ns of a piece by side."""
        found: dict[str, Any] = {"name": self.name, "tick_ns": self.tick_ns}
        if self.filler is not None:
            found["piece_ns"] = self.filler.times_ns()
        return found | ({"why_spun": self.why_spun} if self.why_spun else {})

    def synchronize(self) -> None:
        """Wait for all work of the context, on every stream."""
        self.driver.synchronize()

    def use_products(self, products: Sequence[tuple[int, Step]]) -> None:
        """Fill gaps with these from now on, where a run of samples asks for it."""
        self._products = products
        self._measure_products()

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
        """See ``Timer``."""
        *events, marks = self._events(count + 1)
        filler = self.filler if worked else None
        first, each = (self._gap(filler, one) for one in (hold_ns + lead_ns, hold_ns))
        marked = count - 1 if each.pieces else 0  # the last shows the clocks at their lowest
        taken = Taken(filled=0, gaps=self._describe(filler, first, each))
        begun = self._clock()
        with self.collector.quieted():
            for index, (start, end) in enumerate(events):
                self.collector.quiet()
                step = ready(index)
                taken.last = None
                self._hold(each if index else first, marks if index == marked else None)
                if cold:
                    self.flush()
                self._one(step, start, end, taken)
                offer(index, taken.last)
        self._wait(events[-1][1], watch)
        self.synchronize()
        taken.timed_ns = self._clock() - begun
        taken.samples_ns = [self.driver.elapsed_ns(start, end) for start, end in events]
        gap = each if marked else first
        if filler is not None and gap.pieces:
            filler.follow(gap, self.driver.elapsed_ns(*marks))
        return taken

    def _gap(self, filler: Filler | None, nanoseconds: float) -> Gap:
        return Gap(nanoseconds) if filler is None else filler.gap(nanoseconds)

    def _describe(self, filler: Filler | None, first: Gap, each: Gap) -> dict[str, Any]:
        if filler is None:
            return {"gaps": SPUN, **({"why": self.why_spun} if self.why_spun else {})}
        pieces = {"slowness": filler.slowness, "piece_ns": filler.times_ns()}
        return {"gaps": WORKED, **pieces, "first": first.to_fields(), "each": each.to_fields()}

    def _hold(self, gap: Gap, marks: tuple[Any, Any] | None) -> None:
        """Queue a gap, its pieces between marks where there are any."""
        self.spin.hold(gap.spin_ns)
        if gap.pieces and marks:
            self.driver.record(marks[0], self.stream)
        for piece in gap.pieces:
            piece.queue()
        if gap.pieces and marks:
            self.driver.record(marks[1], self.stream)

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
        """How far the host must be ahead of calls like these; ``ready`` takes a set.

        Nobody else is at work on the device then, unlike at the start: pieces are measured again.
        """
        if cold:
            self._measure_products()
        return find_pace(self, lambda at: ready(at % sets), cold=cold)

    def _events(self, count: int) -> list[tuple[Any, Any]]:
        create = self.driver.create_event
        while len(self._pool) < count:
            self._pool.append((create(), create()))
        return self._pool[:count]

    def _span_ns(self, step: Step, count: int = 1) -> float:
        """Shortest of ``count`` timings of one step."""
        return min(self.take(count, lambda _: step, cold=False, hold_ns=20_000).samples_ns)

    def _measure_products(self) -> None:
        if self._products:
            self.filler = Filler([self._measure_piece(*one) for one in self._products])

    def _measure_piece(self, side: int, queue: Step) -> Piece:
        """How long a product takes the device, and the host to queue; once before, to load it."""
        self.take(1, lambda _: queue, cold=False)
        taken = self.take(_PIECE_SAMPLES, lambda _: queue, cold=False, hold_ns=20_000)
        return Piece(side, queue, min(taken.samples_ns), float(min(taken.host_ns)))

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
        hold = min(LONGEST_NS, max(2.0 * self.hold_ns, 0.1 * self.host_ns + 5_000))
        return replace(self, hold_ns=hold, lead_ns=max(self.lead_ns, 2.0 * hold))

    def to_fields(self) -> dict[str, Any]:
        """The pace as it travels."""
        return asdict(self)


def find_pace(timer: CudaTimer, ready: Callable[[int], Step], *, cold: bool) -> Pace:
    """Measure a call's host time under two holds, and what the host lacks to keep ahead.

    All of them are spun: products would fill the launch queue, which looks like waiting.

    A call that takes longer to issue by the difference of the holds waits for the device
    itself (or fills the launch queue). Else the hold makes up for what issuing takes more
    than the device's work, and a quarter of that again.
    """
    first = stats.median(timer.take(2, ready, cold=cold, hold_ns=2e6).host_ns)
    base = min(1.5 * first + 5e5, LONGEST_NS - _SYNC_PROBE_NS)
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


def open_cuda_timer(index: int, gaps: str = SPUN) -> CudaTimer:
    """The timer of a device's default stream; raises DriverError where there is no driver.

    ``gaps`` is the plan's rule; a device without bf16 products spins, and says so. Writing and
    reading the flush's buffer is taken to run at 4 TB/s.
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
    timer = CudaTimer(driver, torch.cuda._sleep, flush, flush_ns=about_ns)
    if gaps == WORKED:
        work_gaps(timer, driver.attribute("compute_major", index), f"cuda:{index}")
    return timer


def work_gaps(timer: CudaTimer, compute_major: int, device: str) -> None:
    """Have a timer fill gaps with products, where its device has them in bf16."""
    if compute_major < LEAST_CAPABILITY:
        timer.why_spun = f"compute capability {compute_major}.x has no bf16 products"
    else:
        timer.use_products(make_products(device))
