"""Regimes and warm-up on a simulated device."""

from __future__ import annotations

import pytest

from kernelindex.runner.probe.measuring import (
    Meter,
    Regime,
    is_steady,
    limited,
    stretch_size,
)
from kernelindex.runner.probe.timers import Step, Taken
from kernelindex.runner.probe.timers.host import HostTimer
from kernelindex.runner.probe.work import FixedWork
from tests.runner.probe.fake_device import FakeDevice


class FakeSensors:
    """A clock of 1980 MHz and a count of readings."""

    def __init__(self) -> None:
        self.read = 0

    def quick(self) -> dict[str, object]:
        self.read += 1
        return {"sm_mhz": 1980, "power_w": 600.0 + self.read, "reasons": ["sw_power_cap"]}

    def slow(self) -> dict[str, object]:
        return {**self.quick(), "processes": 2, "ecc_errors": 0, "energy_j": 10.0 * self.read}


class Rotating(FixedWork):
    """Work on three sets that notes which ones were called."""

    count = 3

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.called: list[int] = []

    def ready(self, index: int) -> Step:
        def call() -> object:
            self.called.append(index)
            return self._step()

        return call


def make_meter(busy_ns: float = 300_000) -> tuple[Meter, Rotating, FakeDevice, FakeSensors]:
    device, sensors = FakeDevice(), FakeSensors()
    meter = Meter(device.timer(), sensors, seed=lambda: 5, sleep=device.sleep)
    return meter, Rotating(device.call(1, busy_ns)), device, sensors


def test_sustained_samples_carry_sets_cycles_and_telemetry() -> None:
    meter, work, _, _ = make_meter()
    found = meter.measure(work, "k", Regime(), 40, switch_calls=3)
    assert found.taken.samples_ns == [pytest.approx(300_000, abs=32)] * 40
    assert found.cycles == [pytest.approx(300_000 * 1.98, rel=1e-3)] * 40
    assert found.order == work.called[-40:]
    assert found.kept is not None
    assert found.kept.set in found.order
    assert found.taken.filled == 40
    assert "gaps" in found.telemetry["covers"]  # the energy counted is not that of the calls
    summary = found.telemetry["summary"]
    assert summary["sm_mhz"]["median"] == 1980
    assert summary["throttle_reasons"] == ["sw_power_cap"]
    assert summary["processes"] == 2
    assert found.switch_calls >= 3


def test_burst_idles_first_and_takes_ten_at_most() -> None:
    meter, work, device, _ = make_meter()
    meter.measure(work, "k", Regime(load="burst"), 3)
    before = device.now
    found = meter.measure(work, "k", Regime(load="burst"), 50, idle_seconds=2.0)
    assert len(found.taken.samples_ns) == 10
    assert device.now - before > 2_000_000_000


def test_fields_of_the_reply_are_plain() -> None:
    meter, work, _, _ = make_meter()
    fields = meter.measure(work, "k", Regime(cache="hot"), 4).to_fields()
    assert set(fields) >= {"samples_ns", "cycles", "order", "timed_ns", "telemetry", "pace"}
    assert fields["pace"]["synchronizes"] is False
    assert fields["queue_filled"] == 4
    assert fields["timed_ns"] >= sum(fields["samples_ns"])


def test_warm_up_tells_the_first_call_apart_and_ends_when_steady() -> None:
    meter, work, _, _ = make_meter()
    warmed = meter.warm(work, "k", Regime(), 0.01, 5)
    assert warmed.steady
    assert warmed.calls >= 6
    assert warmed.median_ns == pytest.approx(300_000, abs=32)
    assert set(meter.paces) == {("k", True)}


def test_compiling_alone_learns_no_pace() -> None:
    meter, work, _, _ = make_meter()
    meter.warm(work, "k", Regime(), 0.0, 1)
    assert meter.paces == {}


def test_warm_up_gives_up_on_what_never_settles() -> None:
    device = FakeDevice()
    meter = Meter(device.timer(), FakeSensors(), seed=lambda: 1, sleep=device.sleep)
    state = {"busy": 1e5}

    def drifting() -> None:
        state["busy"] *= 1.02
        device.launch(state["busy"])

    warmed = meter.warm(Rotating(drifting), "k", Regime(), 0.002, 5)
    assert not warmed.steady


def test_a_block_is_calls_and_one_wait() -> None:
    meter, work, device, _ = make_meter()
    meter.block(work, 12)
    assert len(work.called) == 12
    assert device.now >= device.free_at


def test_issued_calls_are_not_waited_for() -> None:
    meter, work, device, _ = make_meter()
    meter.issue(work, 12)
    assert len(work.called) == 12
    assert device.free_at - device.now > 11 * 300_000


def test_calls_not_queued_in_time_lengthen_the_next_hold() -> None:
    meter, work, _, _ = make_meter()
    regime = Regime(cache="hot")
    meter.measure(work, "k", regime, 4)
    before = meter.paces["k", False]
    meter._adapt("k", regime, Taken(samples_ns=[1.0] * 10, filled=5))
    assert meter.paces["k", False].hold_ns > before.hold_ns
    held = meter.paces["k", False]
    meter._adapt("k", regime, Taken(samples_ns=[1.0] * 10, filled=10))
    assert meter.paces["k", False] is held


@pytest.mark.parametrize(
    ("medians", "steady"),
    [
        ([100.0], False),
        ([100.0, 101.0], True),
        ([100.0, 103.0], False),
        ([50.0, 100.0, 99.0], True),
    ],
)
def test_steady_means_two_stretches_within_two_percent(medians: list[float], steady: bool) -> None:
    assert is_steady(medians) is steady


def test_a_stretch_takes_about_50_ms() -> None:
    assert stretch_size(3, Taken(timed_ns=3_000_000)) == 50
    assert stretch_size(10, Taken(timed_ns=10_000_000_000)) == 3
    assert stretch_size(10, Taken(timed_ns=1_000)) == 200


def test_looks_are_limited_in_time() -> None:
    seen: list[int] = []
    look = limited(lambda: seen.append(1), every_ns=10**12)
    for _ in range(5):
        look()
    assert seen == [1]


def test_a_host_makes_no_untimed_call_on_what_it_measures_but_its_first() -> None:
    """Who answers timed calls from memory would be right on the set of such a call."""
    work = Rotating(lambda: None)
    meter = Meter(HostTimer(), FakeSensors(), seed=lambda: 5)
    meter.measure(work, "k", Regime(), 4)
    assert work.called == [0, *work.called[1:]]
    assert len(work.called) == 5
    work.called.clear()
    found = meter.measure(work, "k", Regime(), 4)
    assert work.called == found.order
