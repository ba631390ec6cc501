"""NVIDIA's management library: readings of one GPU, and its fixed facts.

Nothing is ever set. Each value is left out where this driver, GPU or virtual machine does not
tell it. The module is ``pynvml`` of the package nvidia-ml-py.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from kernelindex.errors import KernelIndexError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.probe.telemetry import Reading

# Bits of nvmlDeviceGetCurrentClocksEventReasons (nvml.h, nvmlClocksEventReasons).
REASONS = {
    0x001: "gpu_idle",
    0x002: "applications_clocks_setting",
    0x004: "sw_power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal_slowdown",
    0x040: "hw_thermal_slowdown",
    0x080: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}


class NvmlError(KernelIndexError):
    """Raised when NVML or its Python module is absent, or does not know the GPU."""

    code = "nvml.absent"


class Nvml:
    """One GPU; functions are bound before a candidate is imported."""

    def __init__(self, index: int, bus_id: str | None = None) -> None:
        try:
            import pynvml
        except ImportError as error:
            raise NvmlError("no module pynvml; install nvidia-ml-py for telemetry") from error
        self._nvml = pynvml
        try:
            pynvml.nvmlInit()
            self._handle = self._find(index, bus_id)
        except pynvml.NVMLError as error:
            raise NvmlError(f"NVML does not answer: {error}") from error
        self._quick = self._quick_readers()

    def _find(self, index: int, bus_id: str | None) -> Any:
        if bus_id is not None:
            try:
                return self._nvml.nvmlDeviceGetHandleByPciBusId(bus_id.encode())
            except self._nvml.NVMLError:
                pass
        return self._nvml.nvmlDeviceGetHandleByIndex(index)

    def ask(self, name: str, *arguments: Any) -> Any:
        """One ``nvmlDeviceGet<name>`` of this GPU; None where it is not told."""
        function = getattr(self._nvml, f"nvmlDeviceGet{name}", None)
        if function is None:
            return None
        return self._told(lambda: function(self._handle, *arguments))

    def _told(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except self._nvml.NVMLError:
            return None

    def _quick_readers(self) -> dict[str, Callable[[], Any]]:
        n, handle = self._nvml, self._handle
        reasons = getattr(n, "nvmlDeviceGetCurrentClocksEventReasons", None)
        reasons = reasons or n.nvmlDeviceGetCurrentClocksThrottleReasons
        return {
            "sm_mhz": lambda: n.nvmlDeviceGetClockInfo(handle, n.NVML_CLOCK_SM),
            "memory_mhz": lambda: n.nvmlDeviceGetClockInfo(handle, n.NVML_CLOCK_MEM),
            "power_w": lambda: n.nvmlDeviceGetPowerUsage(handle) / 1e3,
            "temperature_c": lambda: n.nvmlDeviceGetTemperature(handle, n.NVML_TEMPERATURE_GPU),
            "reasons": lambda: name_reasons(reasons(handle)),
            "energy_j": lambda: n.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3,
        }

    def quick(self) -> Reading:
        """See ``Sensors``."""
        found = {name: self._told(read) for name, read in self._quick.items()}
        return {name: value for name, value in found.items() if value is not None}

    def slow(self) -> Reading:
        """See ``Sensors``; processes are all that compute on the GPU, this one included."""
        n = self._nvml
        found = self.quick()
        processes = self.ask("ComputeRunningProcesses")
        if processes is not None:
            found["processes"] = len(processes)
        kinds = (n.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, n.NVML_VOLATILE_ECC)
        errors = self.ask("TotalEccErrors", *kinds)
        if errors is not None:
            found["ecc_errors"] = int(errors)
        return found

    def facts(self) -> dict[str, Any]:
        """What does not change while it is measured: driver, limits, modes, identity (hashed)."""
        n = self._nvml
        found = {
            "driver": _text(self._told(n.nvmlSystemGetDriverVersion)),
            "firmware": _text(self.ask("VbiosVersion")),
            "product": _text(self.ask("Name")),
            "uuid_hash": hash_identity(_text(self.ask("UUID"))),
            "power_limit_w": _thousandth(self.ask("EnforcedPowerLimit")),
            "default_power_limit_w": _thousandth(self.ask("PowerManagementDefaultLimit")),
            "persistence_mode": _flag(self.ask("PersistenceMode")),
            "ecc_enabled": _flag(_first(self.ask("EccMode"))),
            "mig": _flag(_first(self.ask("MigMode"))),
            "max_sm_mhz": self.ask("MaxClockInfo", n.NVML_CLOCK_SM),
            "max_memory_mhz": self.ask("MaxClockInfo", n.NVML_CLOCK_MEM),
            "memory_bus_bits": self.ask("MemoryBusWidth"),
            "application_sm_mhz": self.ask("ApplicationsClock", n.NVML_CLOCK_SM),
            "default_application_sm_mhz": self.ask("DefaultApplicationsClock", n.NVML_CLOCK_SM),
            "confidential_computing": self._confidential(),
            "module_id": self.ask("ModuleId"),
            "pcie_width": self.ask("MaxPcieLinkWidth"),
        }
        return {name: value for name, value in found.items() if value is not None}

    def _confidential(self) -> bool | None:
        read = getattr(self._nvml, "nvmlSystemGetConfComputeState", None)
        state = self._told(read) if read else None
        return None if state is None else bool(getattr(state, "ccFeature", 0))


def name_reasons(bits: int) -> list[str]:
    """The names of the reasons in a bit mask; an unknown bit is ``bit_<hex>``."""
    known = [name for bit, name in REASONS.items() if bits & bit]
    rest = bits & ~sum(REASONS)
    return known + [f"bit_{1 << at:x}" for at in range(rest.bit_length()) if rest >> at & 1]


def hash_identity(text: str | None) -> str | None:
    """SHA-256 of a serial identity, so that it can be recognised but not read."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" if text else None


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return None if value is None else str(value)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and value else value


def _flag(value: Any) -> bool | None:
    return None if value is None else bool(value)


def _thousandth(value: Any) -> float | None:
    return None if value is None else value / 1e3
