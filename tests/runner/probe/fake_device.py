"""A simulated device and host clock: work is queued, takes its time, and events note when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kernelindex.runner.probe.timers.cuda import CudaTimer

TICK_NS = 32
LAUNCH_NS = 4_000
CYCLES_PER_NS = 1.98
RECORD_NS = 500


@dataclass
class FakeDevice:
    """``now`` is the host's clock; ``free_at`` when the device has done all that is queued."""

    now: int = 0
    free_at: int = 0
    flushed: int = 0
    spins: list[int] = field(default_factory=list)
    events: list[int | None] = field(default_factory=list)

    def clock(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += int(seconds * 1e9)

    def launch(self, busy_ns: float) -> None:
        """Queue one kernel: the host needs 4 µs for it."""
        self.now += LAUNCH_NS
        self.free_at = max(self.free_at, self.now) + int(busy_ns)

    def spin(self, cycles: int) -> None:
        self.spins.append(cycles)
        self.launch(cycles / CYCLES_PER_NS)

    def flush(self) -> None:
        self.flushed += 1
        self.launch(100_000)

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

    def timer(self) -> CudaTimer:
        return CudaTimer(
            self, self.spin, self.flush, flush_ns=100_000, clock=self.clock, sleep=self.sleep
        )

    def call(self, kernels: int, busy_ns: float, host_ns: int = 0) -> Callable[[], Any]:
        """A call of so many kernels, each busy so long, after some host work each."""

        def step() -> None:
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
