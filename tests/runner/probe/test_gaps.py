"""Gaps that hold work, on a simulated device."""

from __future__ import annotations

from itertools import takewhile

import pytest

from kernelindex.runner.probe.measuring import Meter, Regime
from kernelindex.runner.probe.timers.cuda import CudaTimer, work_gaps
from kernelindex.runner.probe.timers.gaps import LONGEST_NS, MOST_PIECES, Filler, Gap, Piece
from tests.runner.probe.fake_device import LAUNCH_NS, RECORD_NS, FakeDevice
from tests.runner.probe.test_measuring import FakeSensors, Rotating

LARGEST_NS, LARGE_NS, LEAST_NS = 173_973, 73_394, 21_746  # 4096, 3072 and 2048 at 790 TFLOP/s
QUEUING_NS = LAUNCH_NS + 2 * RECORD_NS


def make_filler() -> Filler:
    times = {2048: LEAST_NS, 4096: LARGEST_NS, 3072: LARGE_NS}
    return Filler([Piece(n, lambda: None, at, QUEUING_NS) for n, at in times.items()])


def sides(gap: Gap) -> list[int]:
    return [one.side for one in gap.pieces]


def make_meter(*, worked: bool = True) -> tuple[Meter, Rotating, FakeDevice]:
    """Calls of fifty short kernels, whose host takes 0.7 ms for 0.1 ms of work."""
    device = FakeDevice()
    timer = device.timer(worked=worked)
    meter = Meter(timer, FakeSensors(), seed=lambda: 5, sleep=device.sleep)
    return meter, Rotating(device.call(50, 2_000, host_ns=10_000)), device


def test_how_long_pieces_take_is_measured_and_what_is_too_short_is_left_out() -> None:
    filler = FakeDevice().timer(worked=True).filler
    assert filler is not None
    found = [(one.side, one.device_ns, one.host_ns) for one in filler.pieces]
    assert found == [
        (4096, pytest.approx(LARGEST_NS, abs=64), QUEUING_NS),
        (3072, pytest.approx(LARGE_NS, abs=64), QUEUING_NS),
        (2048, pytest.approx(LEAST_NS, abs=64), QUEUING_NS),
    ]


def test_a_gap_takes_the_longest_pieces_that_fit_and_spins_for_the_rest() -> None:
    gap = make_filler().gap(550_000)
    assert sides(gap) == [4096] * 3 + [2048] * 2
    net = 3 * LARGEST_NS + 2 * LEAST_NS - 5 * QUEUING_NS
    assert gap.spin_ns == 550_000 - net
    assert gap.spin_ns < LEAST_NS
    assert gap.to_fields() == {"pieces": {"4096": 3, "2048": 2}, "spin_ns": gap.spin_ns}


@pytest.mark.parametrize("wanted", [0.0, -3.0, 9_000.0])
def test_a_gap_shorter_than_a_piece_is_spun(wanted: float) -> None:
    assert make_filler().gap(wanted) == Gap(max(0.0, wanted))


def test_pieces_are_bounded_so_that_the_launch_queue_keeps_room_for_the_call() -> None:
    least = Filler([Piece(2048, lambda: None, LEAST_NS, 0.0)])
    gap = least.gap(1e12)
    assert len(gap.pieces) == MOST_PIECES
    assert gap.spin_ns == LONGEST_NS - MOST_PIECES * LEAST_NS


def test_pieces_follow_the_clock_by_the_shorter_of_two_readings() -> None:
    filler = make_filler()
    gap = filler.gap(1e6)
    filler.follow(gap, 1.4 * gap.nominal_ns)
    assert filler.slowness == 1.0  # once could be a host that was interrupted
    filler.follow(gap, 1.25 * gap.nominal_ns)
    assert filler.slowness == pytest.approx(1.25)
    slower = filler.gap(1e6)
    assert slower.nominal_ns < 0.85 * gap.nominal_ns
    filler.follow(gap, 900.0 * gap.nominal_ns)
    filler.follow(gap, 900.0 * gap.nominal_ns)
    assert filler.slowness == 4.0


def test_a_slow_host_s_calls_are_queued_in_time_behind_work() -> None:
    meter, work, device = make_meter()
    found = meter.measure(work, "k", Regime(), 40, switch_calls=3)
    assert found.taken.samples_ns == [pytest.approx(100_000, abs=32)] * 40
    assert found.taken.filled == 40
    pace = found.pace
    assert pace["gaps"] == "worked"
    assert pace["hold_ns"] > 500_000
    assert pace["each"]["pieces"]["4096"] >= 2
    assert pace["each"]["spin_ns"] < LEAST_NS
    assert sum(pace["first"]["pieces"].values()) > sum(pace["each"]["pieces"].values())
    last = list(takewhile(lambda one: one != "call", device.queued[-2::-1]))
    assert last[0] == "flush"  # the work comes before it, and leaves no trace in the cache
    assert last[-1] == "spin"
    assert last.count("4096") == pace["each"]["pieces"]["4096"]


def test_the_card_works_through_nearly_all_of_a_slow_host_s_gaps() -> None:
    shares = []
    for worked in (False, True):
        meter, work, device = make_meter(worked=worked)
        meter.measure(work, "k", Regime(), 3)
        begun, spun = device.now, len(device.spins)
        meter.measure(work, "k", Regime(), 60)
        rate = meter.timer.spin.cycles_per_ns  # type: ignore[attr-defined]
        shares.append(sum(device.spins[spun:]) / rate / (device.now - begun))
    assert shares[0] > 0.7
    assert shares[1] < 0.03


@pytest.mark.parametrize(
    "regime", [Regime(load="burst"), Regime(cache="hot"), Regime("hot", "burst")]
)
def test_bursts_and_hot_caches_spin_as_ever(regime: Regime) -> None:
    found = []
    for worked in (False, True):
        meter, work, device = make_meter(worked=worked)
        meter.measure(work, "k", regime, 10, idle_seconds=0.0)
        device.queued.clear()
        measured = meter.measure(work, "k", regime, 10, idle_seconds=0.0)
        assert measured.pace["gaps"] == "spun"
        found.append(device.queued)
    assert found[0] == found[1]


def test_a_clock_that_falls_shortens_gaps_by_what_pieces_take_longer() -> None:
    meter, work, device = make_meter()
    before = meter.measure(work, "k", Regime(), 20)
    device.slowed = 1.3
    for _ in range(2):
        meter.measure(work, "k", Regime(), 20)
    after = meter.measure(work, "k", Regime(), 20)
    assert after.pace["slowness"] == pytest.approx(1.3, abs=0.01)
    held = [one.taken.timed_ns for one in (before, after)]
    assert held[1] == pytest.approx(held[0], rel=0.02)
    assert after.taken.filled == 20


def test_long_gaps_never_make_a_call_look_as_if_it_waited_for_the_device() -> None:
    device = FakeDevice()
    timer = device.timer(worked=True)
    work = Rotating(device.call(400, 2_000, host_ns=30_000))
    meter = Meter(timer, FakeSensors(), seed=lambda: 5, sleep=device.sleep)
    found = meter.measure(work, "k", Regime(), 12)
    assert found.pace["synchronizes"] is False
    assert found.pace["hold_ns"] > 10e6
    assert found.taken.filled == 12


@pytest.mark.parametrize(("major", "worked"), [(7, False), (8, True)])
def test_a_device_without_bf16_spins_and_says_so(
    major: int, worked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = FakeDevice()
    timer: CudaTimer = device.timer()
    made = [(side, device.product(side)) for side in (4096, 2048)]
    monkeypatch.setattr("kernelindex.runner.probe.timers.cuda.make_products", lambda _: made)
    work_gaps(timer, major, "cuda:0")
    taken = timer.take(2, lambda _: device.call(1, 1_000), cold=True, hold_ns=1e6, worked=True)
    assert taken.gaps["gaps"] == ("worked" if worked else "spun")
    assert taken.gaps.get("why") == (
        None if worked else "compute capability 7.x has no bf16 products"
    )
    assert ("4096" in device.queued) is worked
    assert set(timer.to_fields()) - {"name", "tick_ns"} == {"piece_ns" if worked else "why_spun"}


def test_pieces_measured_beside_others_are_measured_again_alone() -> None:
    device = FakeDevice(slowed=6.0)  # five other processes take turns while all of them start
    timer = device.timer(worked=True)
    meter = Meter(timer, FakeSensors(), seed=lambda: 5, sleep=device.sleep)
    assert timer.to_fields()["piece_ns"]["2048"] == pytest.approx(6 * LEAST_NS, abs=64)
    device.slowed = 1.0
    work = Rotating(device.call(50, 2_000, host_ns=10_000))
    found = meter.measure(work, "k", Regime(), 10)
    assert found.pace["piece_ns"]["2048"] == pytest.approx(LEAST_NS, abs=64)
    assert found.taken.filled == 10
