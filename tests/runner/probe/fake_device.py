"""A simulated device and host clock: work is queued, takes its time, and events note when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kernelindex.runner.probe.timers.cuda import CudaTimer
from kernelindex.runner.probe.timers.gaps import SIDES

TICK_NS = 32
LAUNCH_NS = 4_000
CYCLES_PER_NS = 1.98
RECORD_NS = 500
DEPTH = 1_000


@dataclass
class FakeDevice:
    """``now`` is the host's clock; ``free_at`` when the device has done all that is queued.

    ``slowed`` lengthens products, as a power cap does; ``queued`` is what was queued, in order.
    A host that is ``DEPTH`` launches ahead waits.
    """

    now: int = 0
    free_at: int = 0
    flushed: int = 0
    slowed: float = 1.0
    spins: list[int] = field(default_factory=list)
    queued: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    events: list[int | None] = field(default_factory=list)

    def clock(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += int(seconds * 1e9)

    def launch(self, busy_ns: float) -> None:
        """Queue one kernel: the host needs 4 µs for it."""
        self.now += LAUNCH_NS
        if len(self.ends) >= DEPTH:
            self.now = max(self.now, self.ends[-DEPTH])
        self.free_at = max(self.free_at, self.now) + int(busy_ns)
        self.ends.append(self.free_at)

    def spin(self, cycles: int) -> None:
        self.queued.append("spin")
        self.spins.append(cycles)
        self.launch(cycles / CYCLES_PER_NS)

    def flush(self) -> None:
        self.queued.append("flush")
        self.flushed += 1
        self.launch(100_000)

    def product(self, side: int) -> Callable[[], Any]:
        """A product at 790 TFLOP/s."""

        def queue() -> None:
            self.queued.append(str(side))
            self.launch(self.slowed * 2 * side**3 / 790e3)

        return queue

    def create_event(self) -> int:
        self.events.append(None)
        return len(self.events) - 1

    def record(self, event: int, stream: int) -> None:
        self.now += RECORD_NS
        self.events[event] = max(self.free_at, self.now)

    def reached(self, event: int) -> bool:
        at = self.events[event]
        assert at is not None
        return at <= self.now

    def elapsed_ns(self, start: int, end: int) -> float:
        first, last = self.events[start], self.events[end]
        assert first is not None
        assert last is not None
        return (last - first) // TICK_NS * TICK_NS

    def synchronize(self) -> None:
        self.now = max(self.now, self.free_at)

    def timer(self, *, worked: bool = False) -> CudaTimer:
        made = CudaTimer(
            self, self.spin, self.flush, flush_ns=100_000, clock=self.clock, sleep=self.sleep
        )
        if worked:
            made.use_products([(side, self.product(side)) for side in SIDES])
        return made

    def call(self, kernels: int, busy_ns: float, host_ns: int = 0) -> Callable[[], Any]:
        """A call of so many kernels, each busy so long, after some host work each."""

        def step() -> None:
            self.queued.append("call")
            for _ in range(kernels):
                self.now += host_ns
                self.launch(busy_ns)

        return step

    def synchronizing_call(self, busy_ns: float) -> Callable[[], Any]:
        """A call that waits for its own result."""

        def step() -> None:
            self.launch(busy_ns)
            self.synchronize()

        return step
