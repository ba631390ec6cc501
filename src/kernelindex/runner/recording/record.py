"""A whole batch as manifests, ready to be signed: every series with the four it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.registry.operation_specs import build_operation
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.recording.environment import architecture_of, build_environment
from kernelindex.runner.recording.protocol import build_protocol
from kernelindex.runner.recording.run import RunnerFacts, build_run
from kernelindex.runner.recording.software import (
    Loaded,
    build_implementation,
    build_project,
    describe_candidate,
)
from kernelindex.runner.recording.workload import build_workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernelindex.manifests import Manifest
    from kernelindex.runner.recording.batch import Batch, Series

__all__ = ["RecordedRun", "RunnerFacts", "record_batch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run and the manifests that it names."""

    series: Series
    run: Manifest
    project: Manifest
    operation: Manifest
    workload: Manifest
    implementation: Manifest
    protocol: Manifest
    environment: Manifest

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All of them, those that others name first."""
        return (
            self.project,
            self.operation,
            self.workload,
            self.implementation,
            self.protocol,
            self.environment,
            self.run,
        )


def record_batch(
    batch: Batch, runner: RunnerFacts, previous_digest: str | None = None
) -> tuple[RecordedRun, ...]:
    """Every series of a batch as a run, failed and unstable ones included, in order."""
    return tuple(_record(batch, runner, previous_digest))


def _record(
    batch: Batch, runner: RunnerFacts, previous_digest: str | None
) -> Iterator[RecordedRun]:
    architecture = architecture_of(batch.facts, on_device=batch.on_device)
    for series in batch.series:
        described = load_operation(series.point.operation)
        candidate = describe_candidate(described, series.candidate)
        loaded = loaded_of(batch, series)
        implementation = build_implementation(
            candidate, series.point.operation, loaded, architecture
        )
        workload = build_workload(series.point, described)
        spins = bool((batch.facts.get("timer") or {}).get("why_spun"))
        protocol = build_protocol(batch.plan, series.point, series.regime, spins=spins)
        environment = build_environment(
            {**batch.facts, "packages": loaded.packages},
            candidate.packages,
            on_device=batch.on_device,
        )
        digests = {
            "implementationDigest": implementation.digest,
            "workloadDigest": workload.digest,
            "protocolDigest": protocol.digest,
            "environmentDigest": environment.digest,
        }
        yield RecordedRun(
            series=series,
            run=build_run(batch, series, digests, runner, previous_digest),
            project=build_project(candidate),
            operation=build_operation(series.point.operation),
            workload=workload,
            implementation=implementation,
            protocol=protocol,
            environment=environment,
        )


def loaded_of(batch: Batch, series: Series) -> Loaded:
    """What is known of a candidate's source and packages: its own, else the batch's."""
    own = series.found.get("loaded") or {}
    packages = {**(batch.facts.get("packages") or {}), **(own.get("packages") or {})}
    digest = own.get("source_digest")
    return Loaded(
        source_digest=digest if _is_digest(digest) else None,
        packages={str(name): str(version) for name, version in packages.items()},
    )


def _is_digest(text: object) -> bool:
    from kernelindex.ids import is_digest

    return isinstance(text, str) and is_digest(text)
