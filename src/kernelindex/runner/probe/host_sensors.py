"""Readings of a machine without a GPU, from /proc and /sys; what is not there is left out."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelindex.runner.probe.telemetry import Reading

_FREQUENCY = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
_LOAD = Path("/proc/loadavg")
_INFO = Path("/proc/cpuinfo")
_THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")


class HostSensors:
    """The processor's clock and temperature, the machine's load, switches of this process."""

    def quick(self) -> Reading:
        """See ``telemetry.Sensors``; ``cpu_mhz`` is the first core's."""
        found: dict[str, Any] = {"cpu_mhz": _clock_mhz(), "temperature_c": _scaled(_THERMAL, 1e-3)}
        usage = resource.getrusage(resource.RUSAGE_SELF)
        found["involuntary_switches"] = usage.ru_nivcsw
        return {name: value for name, value in found.items() if value is not None}

    def slow(self) -> Reading:
        """See ``telemetry.Sensors``."""
        found = self.quick()
        load = _read(_LOAD).split()
        if len(load) >= 4:
            found["load"] = float(load[0])
            found["runnable"] = int(load[3].partition("/")[0])
        return found


def _clock_mhz() -> float | None:
    scaled = _scaled(_FREQUENCY, 1e-3)
    if scaled is not None:
        return scaled
    for line in _read(_INFO).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "cpu MHz":
            return float(value)
    return None


def _scaled(path: Path, factor: float) -> float | None:
    text = _read(path).strip()
    return int(text) * factor if text.lstrip("-").isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
