"""Small manifests and rows, made by hand."""

from __future__ import annotations

from typing import Any

from kernelindex.catalog.intake import (
    Alias,
    Observation,
    ProjectLink,
    Row,
    Skipped,
    Snapshot,
)
from kernelindex.manifests import Manifest, parse

V1 = "kernelindex.dev/v1alpha1"
SOURCE = "test-bench"


def make_manifest(kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> Manifest:
    """A validated manifest of the first version."""
    document = {
        "apiVersion": V1,
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }
    return parse(document)


def make_operation(name: str = "scale", **metadata: Any) -> Manifest:
    """y = a x over n elements."""
    tensor = {"dtype": "fp32", "shape": ["n"]}
    spec = {
        "family": name,
        "axes": {"n": {"role": "variable", "type": "integer"}},
        "inputs": [{"name": "x", "tensor": tensor}],
        "outputs": [{"name": "y", "tensor": tensor}],
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    }
    return make_manifest("OperationSpec", name, spec, **metadata)


def make_workload(operation: Manifest, n: int = 1024) -> Manifest:
    """One size of an operation."""
    spec = {
        "operationSpecDigest": operation.digest,
        "axes": {"n": n},
        "tensors": {"x": {"dtype": "fp32", "shape": [n]}},
        "correctness": {"comparator": "allclose"},
    }
    return make_manifest("WorkloadCase", f"{operation.name}-{n}", spec)


def make_implementation(
    operation: Manifest, name: str = "fast", version: str = "1.0", **metadata: Any
) -> Manifest:
    """One callable at one version."""
    spec = {
        "projectRevision": {"version": version},
        "operation": {"specDigest": operation.digest},
        "callable": {"language": "python", "path": f"{name}.py", "symbol": name},
        "support": {"hardwareArchitectures": ["sm_90"], "dtypes": ["fp32"]},
        "licensing": {},
    }
    return make_manifest("ImplementationRevision", name, spec, **metadata)


def make_protocol(statistic: str = "median") -> Manifest:
    """A plain harness."""
    spec = {
        "harness": {"name": "test harness"},
        "measurement": {"timer": "cuda_event", "primaryStatistic": statistic},
    }
    return make_manifest("BenchmarkProtocol", "plain", spec)


def make_environment(product: str = "NVIDIA H100 80GB HBM3", driver: str = "550.1") -> Manifest:
    """One GPU with one driver."""
    spec = {
        "hardware": {"vendor": "nvidia", "product": product, "architecture": "sm_90"},
        "software": {"driver": driver},
    }
    return make_manifest("ExecutionEnvironment", "machine", spec)


def make_run(
    implementation: Manifest,
    workload: Manifest,
    protocol: Manifest,
    environment: Manifest,
    *,
    median_ns: int = 1000,
    observed: str = "2026-01-02T03:04:05Z",
    status: str = "passed",
    external: str | None = None,
    source: str = SOURCE,
) -> Manifest:
    """One measurement."""
    spec: dict[str, Any] = {
        "implementationDigest": implementation.digest,
        "workloadDigest": workload.digest,
        "protocolDigest": protocol.digest,
        "environmentDigest": environment.digest,
        "status": status,
        "observedAt": observed,
    }
    if status == "passed":
        latency = {"median": median_ns}
        spec["timing"] = {"primaryStatistic": "median", "samples": 10, "latencyNs": latency}
    if external is not None:
        spec["sourceNative"] = {"source": source, "externalId": external}
    return make_manifest("BenchmarkRun", f"run-{median_ns}", spec)


def make_snapshot(
    digit: str = "1", *, source: str = SOURCE, version: int = 1, fetched: str = "2026-02-01"
) -> Snapshot:
    """A snapshot named by one repeated digit."""
    return Snapshot(
        source=source,
        name="results",
        digest="sha256:" + digit * 64,
        size_bytes=100,
        fetched_at=f"{fetched}T00:00:00Z",
        parser_version=version,
    )


class World:
    """An operation, a workload, a protocol and a machine, and rows of runs on them."""

    def __init__(self, name: str = "scale", n: int = 1024) -> None:
        self.operation = make_operation(name)
        self.workload = make_workload(self.operation, n)
        self.protocol = make_protocol()
        self.environment = make_environment()

    def implementation(self, name: str, version: str = "1.0") -> Manifest:
        """An implementation of the world's operation."""
        return make_implementation(self.operation, name, version)

    def run(self, name: str, median_ns: int, **more: Any) -> Manifest:
        """A run of the named implementation."""
        parts = (self.workload, self.protocol, self.environment)
        return make_run(self.implementation(name), *parts, median_ns=median_ns, **more)

    def parts(self, name: str) -> tuple[Manifest, ...]:
        """Everything a run of the implementation names."""
        shared = (self.operation, self.workload, self.protocol, self.environment)
        return (*shared, self.implementation(name))

    def row(
        self,
        name: str,
        median_ns: int,
        *,
        where: str = "1",
        key: str | None = None,
        stamp: str | None = None,
        source: str = SOURCE,
        links: tuple[ProjectLink, ...] = (),
        **more: Any,
    ) -> Row:
        """A source row of such a run, with all its parts."""
        run = self.run(name, median_ns, **more)
        observation = Observation(
            run_digest=run.digest,
            source=source,
            row={"name": name, "ns": median_ns},
            row_key=key,
            row_stamp=stamp,
            published_at="2026-01-03",
        )
        alias = Alias(
            alias=f"id-{name}-{median_ns}", kind="BenchmarkRun", digest=run.digest, source=source
        )
        return Row(
            where=where,
            manifests=(*self.parts(name), run),
            observation=observation,
            aliases=(alias,),
            links=links,
        )


def skipped(reason: str = "blank_row") -> Skipped:
    """A row that became nothing."""
    return Skipped(where="9", reason=reason)
