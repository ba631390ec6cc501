"""Cohorts: the sets of runs that may be ranked together (cohort/v2; design, section 3).

A cohort is one shape, one pass, one protocol's meaning, one correctness policy, one
metric and one device class. Software versions are not in it: they are an entry's stack.
"""

from __future__ import annotations

from typing import Any

from kernelindex.manifests import digest_of
from kernelindex.policy.facts import DeviceClass, Profile, ProtocolSemantics, RunFacts, Shape

COHORT_VERSION = "cohort/v2"
SHAPE_VERSION = "shape/v1"
DEVICE_VERSION = "device/v1"

DEVICE_PARTS = (
    "form_factor",
    "memory",
    "mig",
    "count",
    "interconnect",
    "ecc",
    "power_limit",
    "clock_policy",
    "confidential",
)
"""The parts of a device class beside vendor and product; not stated is a value."""


def shape_components(shape: Shape) -> dict[str, Any]:
    """What the shape key is the digest of."""
    components: dict[str, Any] = {
        "v": SHAPE_VERSION,
        "operation": shape.operation,
        "axes": dict(shape.axes),
        "dtypes": dict(shape.dtypes),
    }
    if shape.distribution is not None:
        components["distribution"] = shape.distribution
    return components


def shape_key(shape: Shape) -> str:
    """The digest of operation, axes, element dtypes and stated data distribution."""
    return digest_of(shape_components(shape))


def device_components(device: DeviceClass) -> dict[str, str]:
    """What the device key is the digest of; architecture and family follow from product."""
    components = {part: getattr(device, part) for part in DEVICE_PARTS}
    return {
        "v": DEVICE_VERSION,
        "vendor": device.vendor,
        "product": device.product_id or device.product,
        **components,
    }


def device_key(device: DeviceClass) -> str:
    """The digest of everything that must be equal for two devices to be compared."""
    return digest_of(device_components(device))


def protocol_components(protocol: ProtocolSemantics, source: str) -> dict[str, Any]:
    """What a timing means; a source's own harness counts for that source alone."""
    components: dict[str, Any] = {"profile": str(protocol.profile), "name": protocol.name}
    if protocol.version is not None:
        components["version"] = protocol.version
    if protocol.rules:
        components["rules"] = dict(protocol.rules)
    if protocol.profile is Profile.SOURCE_NATIVE:
        components["source"] = source
    return components


def cohort_components(facts: RunFacts) -> dict[str, Any]:
    """Everything that is equal for all runs of the cohort, as the key sees it."""
    return {
        "v": COHORT_VERSION,
        "shape": shape_components(facts.shape),
        "pass": str(facts.timed_pass),
        "protocol": protocol_components(facts.protocol, facts.source),
        "correctness": facts.correctness_key,
        "metric": facts.primary.key if facts.primary else "none",
        "device": device_components(facts.device),
    }


def cohort_key(facts: RunFacts) -> str:
    """The digest of ``cohort_components``; runs with equal keys may be ranked together."""
    return digest_of(cohort_components(facts))
