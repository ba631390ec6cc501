"""The timer, sensors and pad of a probe's device, made before a candidate is imported."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kernelindex.runner.probe.host_cache import HostCache
from kernelindex.runner.probe.host_sensors import HostSensors
from kernelindex.runner.probe.measuring import Meter
from kernelindex.runner.probe.state import Session
from kernelindex.runner.probe.timers.driver import Driver, DriverError
from kernelindex.runner.probe.timers.gaps import SPUN
from kernelindex.runner.probe.timers.host import HostTimer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.probe.telemetry import Sensors

Pad = Any


def open_session(device: str, rules: Mapping[str, Any]) -> Session:
    """A session on ``cpu`` or ``cuda:<n>``; raises DriverError where there is no driver."""
    if not device.startswith("cuda"):
        return Session(device, rules, Meter(HostTimer(HostCache()), HostSensors()))
    from kernelindex.runner.probe.timers.cuda import open_cuda_timer

    index = int(device.partition(":")[2] or 0)
    timer = open_cuda_timer(index, str(rules.get("gaps") or SPUN))
    meter = Meter(timer, gpu_sensors(index), reset_cache=find_reset(Driver(), index))
    return Session(device, rules, meter)


def gpu_sensors(index: int) -> Sensors:
    """NVML where it answers, else what the host tells."""
    from kernelindex.runner.probe.facts import bus_id
    from kernelindex.runner.probe.nvml import Nvml, NvmlError

    try:
        return Nvml(index, bus_id(index))
    except NvmlError:
        return HostSensors()


def find_reset(driver: Driver, index: int) -> Callable[[], None]:
    """What makes persisting L2 lines normal again; nothing where the device has none.

    Tried once: a virtual machine may refuse what its device could do.
    """
    if not driver.attribute("max_persisting_l2_bytes", index):
        return lambda: None
    try:
        driver.reset_persisting_l2()
    except DriverError:
        return lambda: None
    return driver.reset_persisting_l2


def make_pad(device: str, size_bytes: int) -> Pad:
    """Allocate a pad that is kept, so that addresses differ between generations."""
    if size_bytes <= 0:
        return None
    if device.startswith("cuda"):
        import torch

        return torch.empty(size_bytes, dtype=torch.uint8, device=device)
    pad = None
    with suppress(MemoryError):
        pad = bytearray(size_bytes)
    return pad
