"""Manifests and registry -> the facts policy judges by.

Each ``read_*`` takes one manifest (or two) and is a pure function of its arguments and of the
packaged registry, so a caller may keep results by digest: thousands of runs share a few
protocols and environments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.policy.comparison import PrimaryProblem, correctness_key, primary_measurement
from kernelindex.policy.device_reading import read_device, read_stack
from kernelindex.policy.evidence_reading import read_stated, read_telemetry, states_source
from kernelindex.policy.facts import (
    UNSTATED,
    DeviceClass,
    Line,
    Primary,
    Profile,
    ProtocolSemantics,
    RunFacts,
    Shape,
    TimedPass,
)
from kernelindex.policy.run_values import (
    read_correctness,
    read_cost,
    read_interval,
    read_observed,
    read_own_doubts,
    read_sample_count,
    read_source_doubts,
    read_spread,
)
from kernelindex.registry.dtypes import resolve_dtype
from kernelindex.registry.equivalence import OperationMapping, map_line, map_operation
from kernelindex.registry.operations import load_operations
from kernelindex.registry.protocols import pass_of

if TYPE_CHECKING:
    from kernelindex.manifests import Manifest
    from kernelindex.policy.samples import Samples

CONTROLLED_HARNESS = "kernelindex-runner"

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFacts:
    """What a workload and its operation say: the shape and how results are checked.

    ``computes`` is the pass whose work a call of the source operation is, by review; it
    counts work where the protocol names no pass and never says which pass was timed.
    """

    digest: str
    operation_digest: str
    shape: Shape
    correctness_key: str
    comparator: str
    aggregation: Spec | None
    computes: str | None
    spec: Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolFacts:
    """What a protocol says a timing means."""

    digest: str
    timed_pass: TimedPass
    semantics: ProtocolSemantics
    spec: Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentFacts:
    """The device class and the software stack beside it."""

    digest: str
    device: DeviceClass
    stack: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplementationFacts:
    """Which line and revision an implementation manifest is."""

    digest: str
    operation_digest: str
    line: Line
    revision: str
    exact_source: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationFacts:
    """What the catalog knows of a run beside its manifest."""

    source: str
    bound: tuple[str, ...] = ()
    superseded_by: str | None = None
    retracted: str | None = None


def read_workload(workload: Manifest, operation: Manifest) -> WorkloadFacts:
    """The shape under our names; a suite is a shape of its own, named by its digest."""
    spec, operation_spec = _spec(workload), _spec(operation)
    mapping = map_operation(operation.digest, operation.name)
    is_suite = workload.kind == "WorkloadSuite"
    shape = Shape(
        operation=mapping.slug if mapping else operation.digest,
        family=_family(operation_spec, mapping),
        mapped=mapping is not None,
        axes=() if is_suite else _axes(spec["axes"], mapping),
        dtypes=_dtypes(operation_spec if is_suite else spec, mapping, is_suite=is_suite),
        distribution=f"suite:{workload.digest}" if is_suite else _distribution(spec),
    )
    return WorkloadFacts(
        digest=workload.digest,
        operation_digest=operation.digest,
        shape=shape,
        correctness_key=correctness_key(spec),
        comparator=spec["correctness"]["comparator"],
        aggregation=spec.get("aggregation"),
        computes=mapping.computes if mapping else None,
        spec=spec,
    )


def read_protocol(protocol: Manifest) -> ProtocolFacts:
    """The timed pass (stated, else reviewed for this digest, else unstated) and the rules."""
    spec = _spec(protocol)
    harness = spec["harness"]
    stated = spec.get("timedPass") or pass_of(protocol.digest) or UNSTATED
    controlled = harness["name"] == CONTROLLED_HARNESS
    family = spec.get("comparability", {}).get("family")
    semantics = ProtocolSemantics(
        profile=Profile.CONTROLLED if controlled else Profile.SOURCE_NATIVE,
        name=harness["name"],
        version=harness.get("version") or family,
        rules=_rules(spec),
    )
    return ProtocolFacts(
        digest=protocol.digest, timed_pass=TimedPass(stated), semantics=semantics, spec=spec
    )


def read_environment(environment: Manifest) -> EnvironmentFacts:
    """Device class and stack of an ExecutionEnvironment."""
    spec = _spec(environment)
    return EnvironmentFacts(
        digest=environment.digest, device=read_device(spec), stack=read_stack(spec)
    )


def read_implementation(
    implementation: Manifest, *, source: str, project: str | None = None
) -> ImplementationFacts:
    """The line by reviewed equivalence, else by the manifest's own project and entry point."""
    spec = _spec(implementation)
    revision = spec["projectRevision"]
    return ImplementationFacts(
        digest=implementation.digest,
        operation_digest=spec["operation"]["specDigest"],
        line=_line(implementation, source, project),
        revision=revision.get("commit") or revision.get("version") or UNSTATED,
        exact_source=states_source(spec),
    )


def read_run(
    run: Manifest,
    workload: WorkloadFacts,
    protocol: ProtocolFacts,
    environment: EnvironmentFacts,
    implementation: ImplementationFacts,
    observation: ObservationFacts,
    samples: Samples | None = None,
) -> RunFacts:
    """Everything policy may use about one run; ``samples`` as ``read_samples`` gives them."""
    spec = _spec(run)
    primary = primary_measurement(spec, protocol.spec, workload.spec)
    known = primary if isinstance(primary, Primary) else None
    shape, timed_pass = workload.shape, protocol.timed_pass
    return RunFacts(
        digest=run.digest,
        status=spec["status"],
        primary=known,
        primary_problem=primary.code if isinstance(primary, PrimaryProblem) else None,
        spread=read_spread(spec, known),
        interval=read_interval(spec, known, protocol.semantics.profile),
        sample_count=read_sample_count(spec, known),
        shape=shape,
        timed_pass=timed_pass,
        protocol=protocol.semantics,
        correctness_key=workload.correctness_key,
        correctness=read_correctness(spec, workload.comparator),
        device=environment.device,
        line=implementation.line,
        revision=implementation.revision,
        implementation_digest=implementation.digest,
        workload_digest=workload.digest,
        operation_digest=workload.operation_digest,
        implementation_operation_digest=implementation.operation_digest,
        protocol_digest=protocol.digest,
        environment_digest=environment.digest,
        stack=environment.stack,
        source=observation.source,
        observed=read_observed(spec),
        cost=read_cost(shape, timed_pass, workload.computes, known),
        source_doubts=(
            *read_source_doubts(
                observation.source,
                shape,
                timed_pass,
                environment.device.product_id,
                is_time="timing" in spec,
            ),
            *read_own_doubts(spec),
        ),
        bound=observation.bound,
        superseded_by=observation.superseded_by,
        retracted=observation.retracted,
        stated=read_stated(
            spec, workload.spec, protocol.spec, exact_source=implementation.exact_source
        ),
        samples=samples if protocol.semantics.profile is Profile.CONTROLLED else None,
        telemetry=read_telemetry(spec),
        extra=_extra(spec),
    )


def _spec(manifest: Manifest) -> Spec:
    spec: Spec = manifest.document["spec"]
    return spec


def _family(operation_spec: Spec, mapping: OperationMapping | None) -> str:
    """Our family of a mapped operation, so that two sources' words do not split it."""
    known = load_operations().get(mapping.slug) if mapping else None
    return known.family if known else str(operation_spec["family"])


def _axes(
    stated: Mapping[str, int], mapping: OperationMapping | None
) -> tuple[tuple[str, int], ...]:
    if mapping is None:
        return tuple(sorted(stated.items()))
    ours = {mapping.axes[name]: value for name, value in stated.items() if name in mapping.axes}
    return tuple(sorted({**mapping.constants, **ours}.items()))


def _dtypes(
    spec: Spec, mapping: OperationMapping | None, *, is_suite: bool
) -> tuple[tuple[str, str], ...]:
    if is_suite:
        stated = {
            item["name"]: item["tensor"]["dtype"] for item in spec["inputs"] if "tensor" in item
        }
    else:
        stated = {name: tensor["dtype"] for name, tensor in spec["tensors"].items()}
    names = mapping.tensors if mapping else {}
    return tuple(
        sorted(
            (names.get(name, name), resolve_dtype(text).key or text)
            for name, text in stated.items()
        )
    )


def _distribution(spec: Spec) -> str | None:
    routing = spec.get("routing")
    return f"routing:{routing['distribution']}" if routing else None


def _rules(spec: Spec) -> tuple[tuple[str, str], ...]:
    """The v1alpha2 fields that change what a timing means, as sorted pairs of text."""
    stated = {
        "cache": spec.get("cache", {}).get("regime"),
        "load": spec.get("load", {}).get("regime"),
        "execution": spec.get("execution"),
        "gradients": spec.get("gradients"),
        "region": ",".join(spec.get("timedRegion", {}).get("includes", ())),
        "interleaving": _as_text(spec.get("interleaving")),
    }
    return tuple(sorted((name, value) for name, value in stated.items() if value))


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _line(implementation: Manifest, source: str, project: str | None) -> Line:
    known = map_line(source, implementation.document, project=project)
    if known is not None:
        return Line(
            id=known.id,
            title=known.title,
            project=known.project,
            entry_point=known.entry_point,
            restated=known.restates is not None,
            restates=known.restates,
        )
    spec = _spec(implementation)
    owner = project or spec["projectRevision"].get("repository") or source
    target = ":".join(
        part for part in (spec["callable"].get("path"), spec["callable"].get("symbol")) if part
    )
    entry_point = target or implementation.name
    title = implementation.document["metadata"].get("title") or implementation.name
    return Line(
        id=f"{owner}/{entry_point}@{spec['operation']['specDigest'][7:15]}",
        title=title,
        project=owner,
        entry_point=entry_point,
    )


def _extra(spec: Spec) -> dict[str, object]:
    native = spec.get("sourceNative", {})
    return {
        "benchmark": native.get("benchmark"),
        "external_id": native.get("externalId"),
        "peak_memory_bytes": spec.get("memory", {}).get("peakBytes"),
        "traits": spec.get("traits"),
    }
