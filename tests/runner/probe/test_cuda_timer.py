"""The device timer's logic on a simulated device: no GPU is needed."""

from __future__ import annotations

import pytest

from kernelindex.runner.probe.timers.cuda import Pace, find_pace, infer_tick
from tests.runner.probe.fake_device import CYCLES_PER_NS, FakeDevice


def test_spin_rate_and_tick_are_measured() -> None:
    timer = FakeDevice().timer()
    assert timer.spin.cycles_per_ns == pytest.approx(CYCLES_PER_NS, rel=1e-3)
    assert timer.tick_ns == 32.0


def test_a_filled_queue_hides_the_host() -> None:
    device = FakeDevice()
    timer, step = device.timer(), device.call(kernels=10, busy_ns=1_000, host_ns=20_000)
    open_queue = timer.take(5, lambda _: step, cold=False)
    filled = timer.take(5, lambda _: step, cold=False, hold_ns=500_000)
    assert min(open_queue.samples_ns) > 200_000  # gaps of the host are inside
    assert open_queue.filled == 0
    assert filled.samples_ns == [pytest.approx(10_000, abs=32)] * 5
    assert filled.filled == 5


def test_cold_flushes_before_every_call_and_hot_never() -> None:
    device = FakeDevice()
    timer, step = device.timer(), device.call(1, 5_000)
    device.flushed = 0
    timer.take(7, lambda _: step, cold=True)
    assert device.flushed == 7
    timer.take(7, lambda _: step, cold=False)
    assert device.flushed == 7


def test_lead_is_held_once_and_hold_before_every_call() -> None:
    device = FakeDevice()
    timer, step = device.timer(), device.call(1, 5_000)
    device.spins.clear()
    timer.take(3, lambda _: step, cold=False, hold_ns=1_000, lead_ns=9_000)
    rate = timer.spin.cycles_per_ns
    assert device.spins == [int(10_000 * rate), int(1_000 * rate), int(1_000 * rate)]


def test_hold_is_bounded() -> None:
    device = FakeDevice()
    timer = device.timer()
    device.spins.clear()
    timer.spin.hold(1e12)
    assert device.spins == [int(50e6 * timer.spin.cycles_per_ns)]


def test_pace_of_long_kernels_needs_no_hold() -> None:
    device = FakeDevice()
    timer, step = device.timer(), device.call(3, 400_000)
    pace = find_pace(timer, lambda _: step, cold=True)
    assert pace.hold_ns == 0.0
    assert not pace.synchronizes
    taken = timer.take(20, lambda _: step, cold=True, lead_ns=pace.lead_ns)
    assert taken.filled == 20
    assert taken.samples_ns == [pytest.approx(1_200_000, abs=32)] * 20


def test_pace_of_launch_bound_calls_makes_up_for_the_host() -> None:
    device = FakeDevice()
    timer, step = device.timer(), device.call(50, 2_000, host_ns=10_000)
    pace = find_pace(timer, lambda _: step, cold=True)
    assert pace.hold_ns > 500_000  # 50 launches of 14 µs against 200 µs of work
    taken = timer.take(20, lambda _: step, cold=True, hold_ns=pace.hold_ns, lead_ns=pace.lead_ns)
    assert taken.filled == 20
    assert taken.samples_ns == [pytest.approx(100_000, abs=32)] * 20


def test_a_call_that_waits_for_the_device_is_recognised() -> None:
    device = FakeDevice()
    timer = device.timer()
    pace = find_pace(timer, lambda _: device.synchronizing_call(300_000), cold=False)
    assert pace.synchronizes
    assert pace.hold_ns == 0.0


def test_pace_grows_where_calls_were_not_queued_in_time() -> None:
    pace = Pace(hold_ns=0.0, lead_ns=0.0, host_ns=100_000, synchronizes=False)
    longer = pace.longer()
    assert longer.hold_ns == 15_000
    assert longer.longer().hold_ns == 30_000


def test_watch_is_called_only_while_the_host_waits() -> None:
    device = FakeDevice()
    timer, step = device.timer(), device.call(1, 2_000_000)
    seen: list[int] = []
    timer.take(4, lambda _: step, cold=False, watch=lambda: seen.append(device.now))
    issued = 4 * 5_000  # about what issuing four calls takes
    assert len(seen) > 10
    assert seen[0] > issued


@pytest.mark.parametrize("tick", [1024, 512, 500, 32])
def test_tick_is_inferred(tick: int) -> None:
    times = [float(7_003 + 131 * n) // tick * tick for n in range(200)]
    assert infer_tick(times) == tick


def test_tick_of_a_fine_clock_is_its_smallest_step() -> None:
    assert infer_tick([1_000.0 + 3 * n for n in range(50)]) == 3.0
    assert infer_tick([1_003.0, 1_010.0, 1_017.0, 1_038.0]) == 7.0
