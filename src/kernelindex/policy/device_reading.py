"""ExecutionEnvironment -> device class and software stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelindex.policy.facts import UNSTATED, DeviceClass
from kernelindex.registry.hardware import GpuMatch, resolve_gpu
from kernelindex.units import format_bytes

UNKNOWN_ARCHITECTURE = "unknown"

Spec = Mapping[str, Any]


def read_device(spec: Spec) -> DeviceClass:
    """The device class: our product where a table knows the name, else the source's words.

    A frozen manifest may say ``architecture: unknown``; the class takes it from the product.
    """
    hardware, settings = spec["hardware"], spec.get("settings", {})
    stated_form = hardware.get("formFactor", "")
    match = resolve_gpu(
        hardware["product"],
        vendor=hardware["vendor"],
        form_factor=stated_form,
        memory_bytes=hardware.get("memoryBytes"),
    )
    form_factor = match.form_factor or stated_form or UNSTATED
    memory_bytes = match.memory_bytes or hardware.get("memoryBytes")
    product = match.product.name if match.product else hardware["product"]
    return DeviceClass(
        vendor=hardware["vendor"],
        product=product,
        product_id=match.product.id if match.product else None,
        family=match.family or hardware["product"],
        architecture=_architecture(hardware["architecture"], match),
        form_factor=form_factor,
        memory=format_bytes(memory_bytes) if memory_bytes else UNSTATED,
        mig=match.mig or hardware.get("migProfile") or UNSTATED,
        count=_text(hardware.get("count")),
        interconnect=_text(hardware.get("interconnect")),
        ecc=_switch(settings.get("eccEnabled"), "on", "off"),
        power_limit=_power(settings.get("powerLimitWatts") or match.power_limit_watts),
        clock_policy=_switch(settings.get("clocksLocked"), "locked", "free"),
        confidential=_switch(hardware.get("confidentialComputing"), "on", "off"),
        label=_label(product, match, stated_form),
    )


def read_stack(spec: Spec) -> tuple[tuple[str, str], ...]:
    """Every stated version, sorted by name; empty where the source states none."""
    software = spec.get("software", {})
    stated = {
        name: software[key]
        for name, key in (
            ("driver", "driver"),
            ("cuda", "cudaToolkit"),
            ("compiler", "compiler"),
            ("os", "operatingSystem"),
            ("kernel", "kernel"),
        )
        if software.get(key)
    }
    framework = software.get("framework")
    if framework:
        stated[framework["name"]] = framework["version"]
    return tuple(sorted({**software.get("libraries", {}), **stated}.items()))


def _architecture(stated: str, match: GpuMatch) -> str:
    if stated != UNKNOWN_ARCHITECTURE:
        return stated
    return match.architecture or UNKNOWN_ARCHITECTURE


def _label(product: str, match: GpuMatch, stated_form: str) -> str:
    if match.product is not None or not stated_form:
        return product
    return f"{product} ({stated_form})"


def _text(value: object) -> str:
    return UNSTATED if value is None else str(value)


def _switch(value: bool | None, true: str, false: str) -> str:
    if value is None:
        return UNSTATED
    return true if value else false


def _power(watts: float | None) -> str:
    return f"{watts:g} W" if watts else UNSTATED
