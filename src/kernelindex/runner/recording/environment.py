"""The facts a batch found of its machine as an ExecutionEnvironment: device class and stack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kernelindex.ids import slugify
from kernelindex.manifests import Manifest, parse
from kernelindex.registry.hardware import resolve_gpu
from kernelindex.runner.recording.workload import V2

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UNKNOWN = "unknown"
MIG_OFF = "none"
CPU_VENDORS = {"intel": "x86_64", "amd": "x86_64", "arm": "aarch64", "neoverse": "aarch64"}
"""Makers by the word of theirs in a model's name, with the architecture that goes with it."""
CUDA_RUNTIMES = ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")
LIBRARIES = ("triton", "numpy")
"""Stated of every environment; a candidate's own packages are added to them."""
_NOT_TOKEN = re.compile(r"[^a-z0-9]+")


def build_environment(
    facts: Mapping[str, Any], packages: Iterable[str], *, on_device: bool
) -> Manifest:
    """The environment of one candidate: the machine's facts and the versions that it uses.

    ``facts`` is the batch's ``facts.json``; ``packages`` the names of the candidate's own.
    """
    hardware = _gpu(facts) if on_device else _cpu(facts)
    spec = {
        "hardware": hardware,
        "software": _software(facts, packages, on_device=on_device),
        "settings": _settings(facts, on_device=on_device),
        "host": _host(facts),
    }
    spec = {name: part for name, part in spec.items() if part or name in {"hardware", "software"}}
    title = f"{hardware['product']} · {_versions(spec['software'])}"[:200]
    metadata = {"name": slugify(title, "environment", "0" * 8), "title": title}
    kind = "ExecutionEnvironment"
    return parse({"apiVersion": V2, "kind": kind, "metadata": metadata, "spec": spec})


def architecture_of(facts: Mapping[str, Any], *, on_device: bool) -> str:
    """The token of the device's architecture, such as sm_90 or x86_64."""
    if not on_device:
        cpu = _get(facts, "cpu") or {}
        usual = CPU_VENDORS.get(_cpu_vendor(cpu), UNKNOWN)
        return _token(_get(cpu, "machine", "architecture") or usual)
    return _sm(_get(_get(facts, "gpu") or {}, "sm", "architecture"))


def _gpu(facts: Mapping[str, Any]) -> dict[str, Any]:
    gpu = _get(facts, "gpu") or {}
    name = str(_get(gpu, "name") or UNKNOWN)
    stated_form = _get(gpu, "form_factor")
    memory = _get(gpu, "memory_bytes")
    match = resolve_gpu(name, memory_bytes=memory)
    return _stated(
        vendor=_get(gpu, "vendor") or match.vendor or "nvidia",
        product=name[:200],
        architecture=_sm(_get(gpu, "sm", "architecture")),
        formFactor=match.form_factor or stated_form,
        memoryBytes=memory,
        count=1,
        migProfile=_mig(gpu),
        confidentialComputing=_get(gpu, "confidential_computing"),
        multiprocessors=_get(gpu, "sms", "multiprocessors"),
        l2Bytes=_get(gpu, "l2_bytes"),
        defaultPowerLimitWatts=_get(gpu, "default_power_limit_w", "default_power_limit_watts"),
        timerTickNs=_get(gpu, "tick_ns") or _tick(facts),
    )


def _mig(gpu: Mapping[str, Any]) -> str | None:
    """``none`` where MIG is off; not stated where nobody asked, or a slice is not named."""
    if _get(gpu, "mig_profile"):
        return str(_get(gpu, "mig_profile"))
    return MIG_OFF if gpu.get("mig") is False else None


def _cpu(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A processor as the device; how many threads it may use is part of its class."""
    cpu = _get(facts, "cpu") or {}
    threads = _get(facts, "threads") or _get(cpu, "threads", "logical_cores")
    return _stated(
        vendor=_cpu_vendor(cpu),
        product=str(_get(cpu, "model") or UNKNOWN)[:200],
        architecture=architecture_of(facts, on_device=False),
        formFactor=f"{threads} threads" if threads else None,
        count=1,
        timerTickNs=_tick(facts),
    )


def _cpu_vendor(cpu: Mapping[str, Any]) -> str:
    words = _token(_get(cpu, "model") or "").split("_")
    return next((vendor for vendor in CPU_VENDORS if vendor in words), UNKNOWN)


def _tick(facts: Mapping[str, Any]) -> Any:
    return _get(_get(facts, "timer") or {}, "tick_ns")


def _software(
    facts: Mapping[str, Any], packages: Iterable[str], *, on_device: bool
) -> dict[str, Any]:
    known = _get(facts, "packages") or {}
    torch = _get(facts, "torch") or known.get("torch")
    libraries = {
        _token(name): str(version)
        for name in (*LIBRARIES, *packages)
        if name != "torch" and (version := known.get(name) or _get(facts, name))
    }
    framework = {"name": "pytorch", "version": str(torch)} if torch else None
    gpu = _get(facts, "gpu") or {}
    return _stated(
        operatingSystem=_text(_get(facts, "operating_system")),
        kernel=_text(_get(facts, "kernel")),
        driver=_text(_get(facts, "driver") or _get(gpu, "driver")) if on_device else None,
        cudaToolkit=_text(_toolkit(facts, known)) if on_device else None,
        framework=framework,
        libraries=libraries or None,
        python=_text(_get(facts, "python")),
        firmware=_text(_get(gpu, "firmware")) if on_device else None,
    )


def _toolkit(facts: Mapping[str, Any], packages: Mapping[str, str]) -> str | None:
    """CUDA as torch names it, else as its runtime's package is numbered."""
    runtimes = (packages.get(name) for name in CUDA_RUNTIMES)
    found = _get(facts, "cuda") or next(filter(None, runtimes), None)
    return None if found is None else str(found)


def _settings(facts: Mapping[str, Any], *, on_device: bool) -> dict[str, Any]:
    """Settings in force; clocks count as free where the policy is the device's own."""
    flags = _get(facts, "global_flags") or {}
    plain = {_token(name): value for name, value in flags.items() if _is_plain(value)}
    shared = {
        "environmentVariables": _get(facts, "environment_variables") or None,
        "globalFlags": plain or None,
    }
    if not on_device:
        return _stated(**shared)
    gpu = _get(facts, "gpu") or {}
    policy = _get(gpu, "clock_policy")
    return _stated(
        clocksLocked={"default": False, "locked": True}.get(policy),
        powerLimitWatts=_get(gpu, "power_limit_w", "power_limit_watts"),
        persistenceMode=_get(gpu, "persistence_mode"),
        eccEnabled=_get(gpu, "ecc_enabled"),
        clockPolicy=policy,
        **shared,
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _host(facts: Mapping[str, Any]) -> dict[str, Any]:
    cpu = _get(facts, "cpu") or {}
    return _stated(
        cpu=_text(_get(cpu, "model")),
        logicalCores=_get(cpu, "logical_cores"),
        memoryBytes=_get(cpu, "memory_bytes"),
    )


def _versions(software: Mapping[str, Any]) -> str:
    framework = software.get("framework")
    libraries = software.get("libraries", {})
    named = [f"{framework['name']} {framework['version']}"] if framework else []
    named += [f"{name} {version}" for name, version in libraries.items() if not framework]
    return ", ".join(named) or "no framework"


def _get(facts: Mapping[str, Any], *names: str) -> Any:
    """The first of these facts that is known."""
    return next((facts[name] for name in names if facts.get(name) not in (None, "")), None)


def _stated(**facts: Any) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)[:200]


def _sm(value: Any) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, list | tuple):
        return f"sm_{''.join(map(str, value))}"
    text = str(value).replace(".", "")
    return f"sm_{text}" if text.isdigit() else _token(text)


def _token(text: Any) -> str:
    plain = _NOT_TOKEN.sub("_", str(text).lower()).strip("_") or UNKNOWN
    return plain if plain[0].isalpha() else f"v_{plain}"
