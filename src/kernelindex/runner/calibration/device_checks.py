"""The device's proofs: empty launch, spin, known bytes and FLOPs, cold against hot, A/A."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from kernelindex import stats
from kernelindex.runner.calibration.anchor import WANTED_NS, device_matmul
from kernelindex.runner.calibration.selfcheck import SelfCheck
from kernelindex.runner.calibration.sentinels import device_copy
from kernelindex.runner.calibration.sizes import Rates, device_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.state import Session
    from kernelindex.runner.probe.timers.cuda import CudaTimer

_SAMPLES = 20
_HOLD_NS = 200_000.0
_LARGE_BYTES = 1 << 30
_SPIN_NS = 20e6
_SPIN_PAIRS = 7


def check_device(session: Session) -> SelfCheck:
    """Proofs on a CUDA device."""
    timer = cast("CudaTimer", session.meter.timer)
    rates = device_rates(session.device)
    found = SelfCheck(session.device, timer.tick_ns)
    found.hold("tick", timer.tick_ns)
    _check_empty(found, timer, session.device)
    _check_spin(found, timer)
    _check_bytes(found, timer, session.device, rates)
    _check_flush(found, timer, session.device, rates)
    _check_flops(found, timer, session.device, rates)
    return found


def _samples(timer: CudaTimer, step: Callable[[], object], *, cold: bool = False) -> Any:
    """Samples behind a queue filled well ahead, the first two calls left out."""
    timer.take(2, lambda _: step, cold=cold, hold_ns=_HOLD_NS)
    return timer.take(_SAMPLES, lambda _: step, cold=cold, hold_ns=_HOLD_NS)


def _median(timer: CudaTimer, step: Callable[[], object], *, cold: bool = False) -> float:
    return stats.median(_samples(timer, step, cold=cold).samples_ns)


def _check_empty(found: SelfCheck, timer: CudaTimer, device: str) -> None:
    """Two events with nothing between, and with a kernel of one element; queued in time."""
    import torch

    nothing = _median(timer, lambda: None)
    found.hold("events", nothing)
    fill = torch.zeros(1, device=device).zero_
    taken = _samples(timer, fill)
    empty = stats.median(taken.samples_ns)
    found.hold("empty_launch", empty)
    found.hold("queue_filled", (taken.filled or 0) / _SAMPLES)
    found.values |= {"events_ns": nothing, "empty_launch_ns": empty}


def _check_spin(found: SelfCheck, timer: CudaTimer) -> None:
    """A spin of known cycles: events and the host's clock agree, and twice is twice.

    The two lengths take turns and medians are compared: a spin counts cycles, so its time
    follows the clock, which still rises for a while after a load that was throttled.
    """
    spin = timer.spin
    walls: dict[int, list[float]] = {1: [], 2: []}
    events: dict[int, list[float]] = {1: [], 2: []}
    for factor in (1, 2) * _SPIN_PAIRS:
        cycles = int(factor * _SPIN_NS * spin.cycles_per_ns)
        timer.synchronize()
        begun = time.perf_counter_ns()
        taken = timer.take(1, lambda _, n=cycles: lambda: spin.kernel(n), cold=False)  # type: ignore[misc]
        walls[factor].append(time.perf_counter_ns() - begun)
        events[factor].append(taken.samples_ns[0])
    event = stats.median(events[2]) - stats.median(events[1])
    wall = stats.median(walls[2]) - stats.median(walls[1])
    twice = stats.median([b / a for a, b in zip(events[1], events[2], strict=True)])
    found.hold("events_against_wall", event / wall)
    found.hold("twice_the_spin", twice)
    found.values |= {"spin_ns_per_cycle": event / (_SPIN_NS * spin.cycles_per_ns)}


def _check_bytes(found: SelfCheck, timer: CudaTimer, device: str, rates: Rates) -> None:
    """Moving 1 GiB stays below the nominal bandwidth and comes near it."""
    step = device_copy(device, _LARGE_BYTES)
    speed = _LARGE_BYTES / _median(timer, step, cold=True) * 1e9
    found.hold("known_bytes", speed / rates.bytes_per_s)
    found.values |= {"copy_bytes_per_s": speed}


def _check_flush(found: SelfCheck, timer: CudaTimer, device: str, rates: Rates) -> None:
    """Work within a third of the L2 is slower after a flush than before."""
    step = device_copy(device, rates.l2_bytes // 3)
    cold, hot = _median(timer, step, cold=True), _median(timer, step)
    found.hold_flush(cold, hot)
    found.values |= {"l2_copy_cold_ns": cold, "l2_copy_hot_ns": hot}


def _check_flops(found: SelfCheck, timer: CudaTimer, device: str, rates: Rates) -> None:
    """A bf16 product stays below the nominal rate and comes near it; again is the same."""
    side = rates.matmul_side(WANTED_NS)
    step = device_matmul(device, side)
    one, again = _median(timer, step), _median(timer, step)
    speed = 2.0 * side**3 / one * 1e9
    found.hold("known_flops", speed / rates.flop_per_s)
    found.hold("a_a", again / one)
    found.values |= {"matmul_flop_per_s": speed, "a_a_ratio": again / one}
