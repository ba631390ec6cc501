from __future__ import annotations

import pytest

from kernelindex.runner.calibration.sizes import Rates, read_rates

H200 = {
    "compute_major": 9,
    "compute_minor": 0,
    "clock_khz": 1_980_000,
    "multiprocessors": 132,
    "memory_clock_khz": 3_201_000,
    "memory_bus_bits": 6016,
    "l2_bytes": 62_914_560,
}


class FakeDriver:
    def __init__(self, **attributes: int) -> None:
        self.attributes = {**H200, **attributes}

    def attribute(self, name: str, index: int) -> int:
        return self.attributes[name]


def rates(**attributes: int) -> Rates:
    return read_rates(FakeDriver(**attributes), 0)  # type: ignore[arg-type]


def test_nominal_rates_of_an_h200() -> None:
    found = rates()
    assert found.flop_per_s == pytest.approx(1.0705e15, rel=1e-3)
    assert found.bytes_per_s == pytest.approx(4.814e12, rel=1e-3)


def test_sizes_give_about_the_wanted_time() -> None:
    found = rates()
    side = found.matmul_side(500_000)
    assert side == 5760  # 0.475 ms on an H200, 2026-11-30
    assert found.matmul_side(5e6) == 12416
    assert side % 128 == 0
    assert found.moved_bytes(50_000) / (1 << 20) == pytest.approx(174, abs=1)


def test_what_a_device_does_not_tell_has_a_default() -> None:
    found = rates(memory_clock_khz=0, compute_major=13)
    assert found.bytes_per_s == 3e11
    assert found.flop_per_s == 512 * 132 * 1.98e9
    assert found.moved_bytes(5_000) >= 1 << 20
