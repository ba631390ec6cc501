"""Which evidence manifests themselves bring: what makes a run reproducible, and telemetry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelindex.policy.samples import Telemetry

Spec = Mapping[str, Any]

SOURCE, WORKLOAD, PROTOCOL, SAMPLES = "source", "workload", "protocol", "samples"
STATEABLE = (SOURCE, WORKLOAD, PROTOCOL, SAMPLES)
"""What ``RunFacts.stated`` may name; software versions are its ``stack``."""


def read_stated(
    run: Spec, workload: Spec, protocol: Spec, *, exact_source: bool
) -> tuple[str, ...]:
    """The parts of a reproducible run that these ``spec`` objects bring, of ``STATEABLE``."""
    found = (
        exact_source,
        states_workload(workload),
        states_protocol(protocol),
        states_samples(run),
    )
    return tuple(name for name, present in zip(STATEABLE, found, strict=True) if present)


def states_source(implementation: Spec) -> bool:
    """Whether the very text that ran is named: by digest, tree, or commit of a repository."""
    revision = implementation["projectRevision"]
    return bool(
        implementation.get("source")
        or revision.get("treeDigest")
        or (revision.get("repository") and revision.get("commit"))
    )


def states_workload(workload: Spec) -> bool:
    """Whether every tensor's data can be made again: an artifact, or a generator in full.

    A suite names no tensors, so it is not complete.
    """
    tensors = workload.get("tensors") or {}
    return bool(tensors) and all(_states_data(one.get("data") or {}) for one in tensors.values())


def states_protocol(protocol: Spec) -> bool:
    """Whether the harness is pinned and warm-up and number of samples have a rule."""
    harness, measurement = protocol["harness"], protocol["measurement"]
    pinned = harness.get("version") or harness.get("commit")
    warm = (
        "warmupIterations" in measurement
        or "warmupDuration" in measurement
        or protocol.get("warmup")
    )
    counted = (
        "measuredIterations" in measurement or "samples" in measurement or protocol.get("stopping")
    )
    return bool(pinned and warm and counted)


def states_samples(run: Spec) -> bool:
    """Whether the artifact of all samples is named."""
    return bool(
        run.get("samples")
        or run.get("timing", {}).get("rawSamples")
        or run.get("evidence", {}).get("rawSamples")
    )


def read_telemetry(run: Spec) -> Telemetry | None:
    """What a v1alpha2 run says of its device; ``None`` where it says nothing."""
    seen, trace = run.get("telemetry"), run.get("trace") or {}
    if seen is None and not trace:
        return None
    clock = (seen or {}).get("smClockMhz", {})
    return Telemetry(
        sm_clock_low_mhz=clock.get("minimum"),
        sm_clock_high_mhz=clock.get("maximum"),
        throttle_reasons=tuple((seen or {}).get("throttleReasons", ())),
        busy_share=trace.get("busyRatio"),
    )


def _states_data(data: Spec) -> bool:
    if data.get("artifact"):
        return True
    return bool(data.get("generator")) and ("seed" in data or "parameters" in data)
