from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from kernelindex.runner.probe.host_sensors import HostSensors
from kernelindex.runner.probe.nvml import Nvml, NvmlError, hash_identity, name_reasons
from kernelindex.runner.probe.telemetry import Watch, summarize


def test_ranges_are_of_the_readings_while_it_worked() -> None:
    before, during = {"sm_mhz": 345}, [{"sm_mhz": 1980}, {"sm_mhz": 1500}]
    made = summarize([before, *during, {"sm_mhz": 600}], during)
    assert made["sm_mhz"] == {
        "minimum": 1500,
        "median": 1740,
        "mean": 1740,
        "maximum": 1980,
        "samples": 2,
    }


def test_without_readings_in_between_all_readings_count() -> None:
    made = summarize([{"sm_mhz": 1000}, {"sm_mhz": 2000}], [])
    assert made["sm_mhz"]["samples"] == 2


def test_reasons_energy_and_counts_are_of_all_readings() -> None:
    first = {"reasons": ["gpu_idle"], "energy_j": 5.0, "ecc_errors": 0, "processes": 1}
    last = {"reasons": ["sw_power_cap"], "energy_j": 8.5, "ecc_errors": 1, "processes": 3}
    made = summarize([first, {}, last], [{}])
    assert made["throttle_reasons"] == ["sw_power_cap"]
    assert made["energy_j"] == 3.5
    assert made["ecc_errors"] == 1
    assert made["processes"] == 3


def test_watch_tells_what_a_reading_cost() -> None:
    watch = Watch(HostSensors()).start()
    watch.look()
    watch.stop()
    report = watch.report()
    assert report["before"]["cost_ns"] > 0
    assert len(report["during"]) == 1
    assert watch.clock_mhz() is None


def test_host_sensors_tell_load() -> None:
    found = HostSensors().slow()
    assert found["load"] >= 0.0
    assert found["involuntary_switches"] >= 0


def test_reasons_have_names_and_unknown_bits_their_number() -> None:
    assert name_reasons(0x4 | 0x1) == ["gpu_idle", "sw_power_cap"]
    assert name_reasons(0x20 | 0x800) == ["sw_thermal_slowdown", "bit_800"]
    assert name_reasons(0) == []


def test_identity_is_hashed() -> None:
    hashed = hash_identity("GPU-123")
    assert hashed is not None
    assert hashed.startswith("sha256:")
    assert "GPU-123" not in hashed
    assert hash_identity(None) is None


class FakeError(Exception):
    pass


def make_pynvml(**told: Any) -> types.ModuleType:
    """A module with the functions asked for; every other one refuses."""
    module = types.ModuleType("pynvml")
    module.NVMLError = FakeError  # type: ignore[attr-defined]
    for name, value in (
        ("NVML_CLOCK_SM", 1),
        ("NVML_CLOCK_MEM", 2),
        ("NVML_TEMPERATURE_GPU", 0),
        ("NVML_MEMORY_ERROR_TYPE_UNCORRECTED", 1),
        ("NVML_VOLATILE_ECC", 0),
    ):
        setattr(module, name, value)
    usual = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByIndex": lambda index: f"handle {index}",
        "nvmlDeviceGetHandleByPciBusId": lambda bus: f"handle {bus.decode()}",
        "nvmlSystemGetDriverVersion": lambda: "580.1",
    }
    refused = (
        *("nvmlDeviceGetClockInfo", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature"),
        *("nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetTotalEnergyConsumption"),
    )

    def refuse(*_: Any) -> Any:
        raise FakeError("not supported")

    for name in refused:
        setattr(module, name, refuse)
    for name, value in {**usual, **told}.items():
        setattr(module, name, value)
    return module


def test_nvml_tells_what_it_can_and_leaves_out_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    module = make_pynvml(
        nvmlDeviceGetClockInfo=lambda handle, kind: 1980 if kind == 1 else 3201,
        nvmlDeviceGetPowerUsage=lambda handle: 123_456,
        nvmlDeviceGetCurrentClocksEventReasons=lambda handle: 4,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [1, 2],
        nvmlDeviceGetUUID=lambda handle: "GPU-1",
        nvmlDeviceGetEccMode=lambda handle: [1, 1],
        nvmlDeviceGetEnforcedPowerLimit=lambda handle: 700_000,
    )
    monkeypatch.setitem(sys.modules, "pynvml", module)
    nvml = Nvml(0, "00000000:1b:00.0")
    assert nvml.quick() == {
        "sm_mhz": 1980,
        "memory_mhz": 3201,
        "power_w": 123.456,
        "reasons": ["sw_power_cap"],
    }
    assert nvml.slow()["processes"] == 2
    facts = nvml.facts()
    assert facts["driver"] == "580.1"
    assert facts["ecc_enabled"] is True
    assert facts["power_limit_w"] == 700.0
    assert "mig" not in facts
    assert "GPU-1" not in str(facts)


def test_without_the_module_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NvmlError, match="nvidia-ml-py"):
        Nvml(0)
