"""A small export of our own: one operation measured twice, with everything around it."""

from __future__ import annotations

import json
from typing import Any

from kernelindex.manifests import parse
from kernelindex.policy.comparison import comparison_key

V1 = "kernelindex.dev/v1alpha1"
Json = dict[str, Any]


def manifest(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": V1, "kind": kind, "metadata": {"name": name}, "spec": spec}


OPERATION = manifest(
    "OperationSpec",
    "scale-h4",
    {
        "family": "scaling",
        "axes": {"rows": {"role": "variable", "type": "integer"}},
        "inputs": [{"name": "x", "tensor": {"shape": ["rows", 4], "dtype": "fp32"}}],
        "outputs": [{"name": "y", "tensor": {"shape": ["rows", 4], "dtype": "fp32"}}],
        "semantics": {"mutation": "none", "determinism": "deterministic"},
    },
)
OPERATION_DIGEST = parse(OPERATION).digest
WORKLOAD = manifest(
    "WorkloadCase",
    "scale-h4-rows8",
    {
        "operationSpecDigest": OPERATION_DIGEST,
        "axes": {"rows": 8},
        "tensors": {"x": {"shape": [8, 4], "dtype": "fp32"}},
        "correctness": {"comparator": "allclose"},
    },
)
PROTOCOL = manifest(
    "BenchmarkProtocol",
    "made-up-bench",
    {
        "harness": {"name": "made-up bench"},
        "measurement": {"timer": "cuda_events", "primaryStatistic": "mean"},
    },
)
ENVIRONMENT = manifest(
    "ExecutionEnvironment",
    "made-up-host",
    {
        "hardware": {"vendor": "nvidia", "product": "NVIDIA L4", "architecture": "sm_89"},
        "software": {},
    },
)
PROJECT = manifest("SoftwareProject", "scalers", {"name": "Scalers"})


def implementation(version: str) -> Json:
    return manifest(
        "ImplementationRevision",
        f"scaler-{version}",
        {
            "projectRevision": {"version": version},
            "operation": {"specDigest": OPERATION_DIGEST},
            "callable": {"language": "python"},
            "support": {"hardwareArchitectures": ["sm_89"], "dtypes": ["fp32"]},
            "licensing": {},
        },
    )


def run(version: str, mean_ns: int, day: int, status: str = "passed") -> Json:
    spec: Json = {
        "implementationDigest": parse(implementation(version)).digest,
        "workloadDigest": parse(WORKLOAD).digest,
        "protocolDigest": parse(PROTOCOL).digest,
        "environmentDigest": parse(ENVIRONMENT).digest,
        "status": status,
        "sourceNative": {"source": "made-up", "externalId": f"made-up/{version}"},
        "observedAt": f"2026-05-{day:02}T10:00:00Z",
    }
    if status == "passed":
        spec["timing"] = {"primaryStatistic": "mean", "latencyNs": {"mean": mean_ns}, "samples": 3}
    return manifest("BenchmarkRun", f"run-{version}-{day}", spec)


def run_row(ident: str, document: Json, version: str) -> Json:
    parsed = parse(document)
    spec = parsed.document["spec"]
    key = comparison_key(spec, WORKLOAD["spec"], PROTOCOL["spec"])
    passed = spec["status"] == "passed"
    return {
        "id": ident,
        "runDigest": parsed.digest,
        "implementationId": f"implementation-{version}",
        "workloadId": "workload-1",
        "sourceId": "source-1",
        "status": spec["status"],
        "observedAt": spec["observedAt"].replace("Z", ".000Z"),
        "publishedAt": "2026-06-01T00:00:00.000Z",
        "hardwareVendor": "nvidia",
        "hardwareModel": "NVIDIA L4",
        "hardwareArchitecture": "sm_89",
        "protocolKey": spec["protocolDigest"],
        "environmentKey": spec["environmentDigest"],
        "correctnessKey": key.correctness_key,
        "comparisonKey": key.key,
        "primaryMetric": "latency" if passed else "none",
        "primaryStatistic": "mean" if passed else None,
        "primaryUnit": "ns" if passed else None,
        "primaryValue": spec["timing"]["latencyNs"]["mean"] if passed else None,
        "manifest": {"run": document, "protocol": PROTOCOL, "environment": ENVIRONMENT},
    }


def measurement(run_id: str, value: int, statistic: str = "mean") -> Json:
    return {
        "id": f"measurement-{run_id}-{statistic}",
        "runId": run_id,
        "metric": "latency",
        "statistic": statistic,
        "unit": "ns",
        "value": value,
        "sampleCount": 3,
    }


def event(run_id: str, previous: str | None, key: str, at: str) -> Json:
    return {
        "id": f"event-{run_id}",
        "runId": run_id,
        "previousRunId": previous,
        "comparisonKey": key,
        "at": at,
    }


def rows() -> list[tuple[str, Json]]:
    """Two passed runs (the second faster) and a failed one, in the order of a real export."""
    first = run_row("run-1", run("v1", 900, 1), "v1")
    second = run_row("run-2", run("v2", 700, 2), "v2")
    failed = run_row("run-3", run("v2", 0, 3, "runtime_error"), "v2")
    digest = "sha256:" + "ab" * 32
    return [
        ("sources", {"id": "source-1", "slug": "made-up", "name": "Made up"}),
        (
            "projects",
            {"id": "project-1", "slug": "scalers", "name": "The Scalers", "manifest": PROJECT},
        ),
        (
            "operations",
            {
                "id": "operation-1",
                "slug": "scale-h4",
                "name": "scale_h4",
                "semanticDigest": OPERATION_DIGEST,
                "manifest": OPERATION,
            },
        ),
        ("operation_aliases", {"operationId": "operation-1", "alias": "scale_by_four"}),
        (
            "workloads",
            {
                "id": "workload-1",
                "operationId": "operation-1",
                "workloadDigest": parse(WORKLOAD).digest,
                "manifest": WORKLOAD,
            },
        ),
        *(("implementations", implementation_row(version)) for version in ("v1", "v2")),
        ("benchmark_runs", first),
        ("benchmark_runs", second),
        ("benchmark_runs", failed),
        ("measurements", measurement("run-1", 900)),
        ("measurements", measurement("run-2", 700)),
        ("record_events", event("run-1", None, first["comparisonKey"], first["observedAt"])),
        ("record_events", event("run-2", "run-1", second["comparisonKey"], second["observedAt"])),
        (
            "artifacts",
            {
                "id": "artifact-1",
                "contentDigest": digest,
                "kind": "source",
                "mediaType": "text/x-python",
                "sizeBytes": 12,
                "uri": None,
                "license": "MIT",
            },
        ),
    ]


def implementation_row(version: str) -> Json:
    document = implementation(version)
    return {
        "id": f"implementation-{version}",
        "slug": f"made-up-scaler-{version}",
        "projectId": "project-1",
        "operationId": "operation-1",
        "implementationDigest": parse(document).digest,
        "manifest": document,
    }


def text(table_rows: list[tuple[str, Json]]) -> bytes:
    lines = (json.dumps({"table": table, "row": row}) for table, row in table_rows)
    return "".join(f"{line}\n" for line in lines).encode()
