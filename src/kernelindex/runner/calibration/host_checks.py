"""The host's proofs: the clock against another clock, cold against hot, twice the work, A/A."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from kernelindex.runner.calibration.anchor import CPU_SIDE, host_matmul
from kernelindex.runner.calibration.selfcheck import SelfCheck
from kernelindex.runner.calibration.sentinels import host_copy
from kernelindex.selfchecks import limits_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.state import Session
    from kernelindex.runner.probe.timers import Timer

_SAMPLES = 15
_SPIN_NS, _SPINS = 3_000_000, 100


def check_host(session: Session) -> SelfCheck:
    """Proofs on a CPU; generous, since others share it."""
    timer = session.meter.timer
    found = SelfCheck(session.device, timer.tick_ns)
    found.hold("tick", timer.tick_ns)
    empty = _least(timer, lambda: None)
    found.hold("empty_call", empty)
    _check_clock(found, timer)
    _check_flush(found, timer)
    _check_work(found, timer)
    found.values |= {"empty_call_ns": empty}
    return found


def _least(timer: Timer, step: Callable[[], object], *, cold: bool = False) -> float:
    """The least of some samples: whatever else runs on a host only ever adds."""
    return min(timer.take(_SAMPLES, lambda _: step, cold=cold).samples_ns)


def _check_clock(found: SelfCheck, timer: Timer) -> None:
    """A loop that waits for 3 ms of another clock takes 3 ms on the timer's.

    It takes longer where others have the processor as they are over, which on a busy host is
    half of all times: it is tried until once nobody had. A clock that is wrong is so every time.
    """
    limit, spent = limits_on(found.device)["clock"], math.inf

    def spin() -> None:
        until = time.monotonic_ns() + _SPIN_NS
        while time.monotonic_ns() < until:
            pass

    for _ in range(_SPINS):
        spent = min(spent, *timer.take(1, lambda _: spin, cold=False).samples_ns)
        if limit.holds(spent / _SPIN_NS):
            break
    found.hold("clock", spent / _SPIN_NS)


def _check_flush(found: SelfCheck, timer: Timer) -> None:
    """An array that fits into the cache is slower to go through after a flush."""
    cache: Any = getattr(timer, "cache", None)
    size = max(1 << 18, min(4 << 20, cache.llc_bytes // 16)) if cache else 1 << 20
    step = host_copy(size)
    cold, hot = _least(timer, step, cold=True), _least(timer, step)
    found.hold_flush(cold, hot)
    found.values |= {"copy_cold_ns": cold, "copy_hot_ns": hot}


def _check_work(found: SelfCheck, timer: Timer) -> None:
    """Twice the work takes twice the time; the same work takes the same."""
    product = host_matmul(CPU_SIDE)

    def twice() -> None:
        product()
        product()

    one, two, again = _least(timer, product), _least(timer, twice), _least(timer, product)
    found.hold("twice_the_work", two / one)
    found.hold("a_a", again / one)
    gflops = 2.0 * CPU_SIDE**3 / one
    found.hold("matmul", gflops)
    found.values |= {"matmul_gflops": gflops}
