"""How large trusted work must be for a wanted duration, from a device's nominal rates.

Sizes follow from fixed properties of the device and are rounded coarsely, so that every
process of every batch on one card does exactly the same work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex.runner.probe.timers.driver import Driver

# Dense bf16 FLOP a multiprocessor does in one clock, by compute capability (NVIDIA's tuning
# guides and white papers: A100, RTX 30, RTX 40, H100, B200, RTX 50); fp32 accumulation.
_FLOP_PER_CLOCK = {80: 2048, 86: 512, 89: 512, 90: 4096, 100: 8192, 103: 8192, 120: 512}
_DEFAULT_FLOP_PER_CLOCK = 512
_DEFAULT_BYTES_PER_SECOND = 3e11
_GEMM_SHARE = 0.72
_COPY_SHARE = 0.8
_LAUNCH_NS = 2_500.0
_SIDE_STEP = 128
_BYTE_STEP = 1 << 20


@dataclass(frozen=True, slots=True)
class Rates:
    """Nominal dense bf16 FLOP/s and memory bytes/s of a device, and its L2 in bytes."""

    flop_per_s: float
    bytes_per_s: float
    l2_bytes: int

    def matmul_side(self, wanted_ns: float) -> int:
        """The side of a square bf16 product of about that duration, a multiple of 128."""
        cube = wanted_ns * 1e-9 * self.flop_per_s * _GEMM_SHARE / 2.0
        return max(_SIDE_STEP, round(math.cbrt(cube) / _SIDE_STEP) * _SIDE_STEP)

    def moved_bytes(self, wanted_ns: float) -> int:
        """Bytes that an elementwise kernel of about that duration moves, a multiple of 1 MiB."""
        moving = max(500.0, wanted_ns - _LAUNCH_NS) * 1e-9
        size = moving * self.bytes_per_s * _COPY_SHARE
        return max(_BYTE_STEP, round(size / _BYTE_STEP) * _BYTE_STEP)


def device_rates(device: str) -> Rates:
    """The nominal rates of ``cuda:<n>``; raises DriverError where there is no driver."""
    from kernelindex.runner.probe.timers.driver import Driver

    return read_rates(Driver(), int(device.partition(":")[2] or 0))


def read_rates(driver: Driver, index: int) -> Rates:
    """The nominal rates of a device; memory moves two transfers a clock."""
    ask = driver.attribute
    capability = 10 * ask("compute_major", index) + ask("compute_minor", index)
    per_clock = _FLOP_PER_CLOCK.get(capability, _DEFAULT_FLOP_PER_CLOCK)
    hertz = 1e3 * ask("clock_khz", index)
    flop = per_clock * ask("multiprocessors", index) * (hertz or 1e9)
    memory = 2.0 * 1e3 * ask("memory_clock_khz", index) * ask("memory_bus_bits", index) / 8.0
    return Rates(flop, memory or _DEFAULT_BYTES_PER_SECOND, ask("l2_bytes", index))
