"""The host's proofs: the clock against another clock, cold against hot, twice the work, A/A."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kernelindex.runner.calibration.anchor import CPU_SIDE, host_matmul
from kernelindex.runner.calibration.selfcheck import SelfCheck
from kernelindex.runner.calibration.sentinels import host_copy

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.state import Session
    from kernelindex.runner.probe.timers import Timer

_SAMPLES = 15
_SPIN_NS = 3_000_000


def check_host(session: Session) -> SelfCheck:
    """Proofs on a CPU; generous, since others share it."""
    timer = session.meter.timer
    found = SelfCheck(timer.tick_ns)
    found.within("tick", timer.tick_ns, 1.0, 50_000.0, "ns")
    empty = _least(timer, lambda: None)
    found.within("empty_call", empty, 0.1, 100_000.0, "ns")
    _check_clock(found, timer)
    _check_flush(found, timer)
    _check_work(found, timer)
    found.values |= {"empty_call_ns": empty}
    return found


def _least(timer: Timer, step: Callable[[], object], *, cold: bool = False) -> float:
    """The least of some samples: whatever else runs on a host only ever adds."""
    return min(timer.take(_SAMPLES, lambda _: step, cold=cold).samples_ns)


def _check_clock(found: SelfCheck, timer: Timer) -> None:
    """A loop that waits for 3 ms of another clock takes 3 ms on the timer's."""

    def spin() -> None:
        until = time.monotonic_ns() + _SPIN_NS
        while time.monotonic_ns() < until:
            pass

    spent = min(timer.take(5, lambda _: spin, cold=False).samples_ns)
    found.within("clock", spent / _SPIN_NS, 0.999, 1.1, "of a 3 ms spin")


def _check_flush(found: SelfCheck, timer: Timer) -> None:
    """An array that fits into the cache is slower to go through after a flush."""
    cache: Any = getattr(timer, "cache", None)
    size = max(1 << 18, min(4 << 20, cache.llc_bytes // 16)) if cache else 1 << 20
    step = host_copy(size)
    cold, hot = _least(timer, step, cold=True), _least(timer, step)
    numbers = {"cold_ns": cold, "hot_ns": hot, "bytes": float(size)}
    text = f"cold {cold:.0f} ns, hot {hot:.0f} ns; wanted cold to be slower by 10 %"
    found.add("flush", cold >= 1.1 * hot, text, **numbers)
    found.values |= {"copy_cold_ns": cold, "copy_hot_ns": hot}


def _check_work(found: SelfCheck, timer: Timer) -> None:
    """Twice the work takes twice the time; the same work takes the same."""
    product = host_matmul(CPU_SIDE)

    def twice() -> None:
        product()
        product()

    one, two, again = _least(timer, product), _least(timer, twice), _least(timer, product)
    found.within("twice_the_work", two / one, 1.6, 2.6, "times as long")
    found.within("a_a", again / one, 0.8, 1.25, "of the same")
    gflops = 2.0 * CPU_SIDE**3 / one
    found.within("matmul", gflops, 0.05, 50_000.0, "GFLOP/s")
    found.values |= {"matmul_gflops": gflops}
