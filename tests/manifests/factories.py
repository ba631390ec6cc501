"""Manifests for tests: small ones written out, full ones made from the schemas."""

from __future__ import annotations

import copy
from typing import Any

from kernelindex.manifests import V1ALPHA1, json_schema

DIGEST = "sha256:" + "ab" * 32
DIGESTS = {
    "operation": "sha256:" + "1" * 64,
    "workload": "sha256:" + "2" * 64,
    "implementation": "sha256:" + "3" * 64,
    "protocol": "sha256:" + "4" * 64,
    "environment": "sha256:" + "5" * 64,
}


def manifest(kind: str, spec: dict[str, Any], version: str = V1ALPHA1) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a-thing"}, "spec": spec}


def operation(**changes: Any) -> dict[str, Any]:
    spec = {
        "family": "gemm",
        "axes": {
            "m": {"role": "variable", "type": "integer", "minimum": 1},
            "n": {"role": "constant", "type": "integer", "value": 64},
            "n2": {"role": "derived", "type": "integer", "expression": "n * 2"},
        },
        "inputs": [
            {"name": "a", "tensor": {"shape": ["m", "n2"], "dtype": "float"}},
            {"name": "alpha", "scalar": {"dtype": "fp32"}},
        ],
        "outputs": [{"name": "c", "tensor": {"shape": ["m", 8], "dtype": "bf16"}}],
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    }
    return manifest("OperationSpec", spec | changes)


def workload(version: str = V1ALPHA1, **changes: Any) -> dict[str, Any]:
    spec = {
        "operationSpecDigest": DIGESTS["operation"],
        "axes": {"m": 16, "n": 64},
        "tensors": {"a": {"shape": [16, 128], "dtype": "bf16"}},
        "scalars": {"alpha": {"dtype": "fp32", "value": 0.5}},
        "correctness": {"comparator": "elementwise_close"},
    }
    return manifest("WorkloadCase", spec | changes, version)


def implementation(**changes: Any) -> dict[str, Any]:
    spec = {
        "projectRevision": {"version": "1.0"},
        "operation": {"specDigest": DIGESTS["operation"]},
        "callable": {"language": "triton"},
        "support": {"hardwareArchitectures": ["sm_90"], "dtypes": ["fp16", "bf16", "fp16"]},
        "licensing": {},
    }
    return manifest("ImplementationRevision", spec | changes)


def protocol(version: str = V1ALPHA1, **changes: Any) -> dict[str, Any]:
    spec = {
        "harness": {"name": "a harness"},
        "measurement": {"timer": "cuda_events", "primaryStatistic": "median"},
    }
    return manifest("BenchmarkProtocol", spec | changes, version)


def run(version: str = V1ALPHA1, **changes: Any) -> dict[str, Any]:
    spec = {
        "implementationDigest": DIGESTS["implementation"],
        "workloadDigest": DIGESTS["workload"],
        "protocolDigest": DIGESTS["protocol"],
        "environmentDigest": DIGESTS["environment"],
        "status": "passed",
        "timing": {"primaryStatistic": "median", "latencyNs": {"median": 8120}},
        "observedAt": "2026-08-01T12:00:00Z",
    }
    kept = {key: value for key, value in (spec | changes).items() if value is not ...}
    return manifest("BenchmarkRun", kept, version)


def full(kind: str, version: str) -> dict[str, Any]:
    """A manifest of ``kind`` that has every field of its schema, one item a list or map."""
    schema = json_schema(kind, version)
    return copy.deepcopy(_sample(schema, schema["$defs"], ""))


# What a schema alone does not tell, by the end of the field's path.
_SPECIAL = {
    ".expression": "2 * 3",
    ".observedAt": "2026-08-01T12:00:00.500Z",
    ".url": "https://example.org/a",
    ".repository": "https://example.org/r",
    ".homepage": "https://example.org/h",
}
_BY_PATTERN = {
    "^sha256": DIGEST,
    "^[0-9a-f]{40}": "c0ffee12" * 5,
    "^[A-Z]": "HOST_BOUND",
    "^[0-9]+": "8.12 ms",
}


def _sample(schema: dict[str, Any], defs: dict[str, Any], path: str) -> Any:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    for end, value in _SPECIAL.items():
        if path.endswith(end) and schema.get("type") == "string":
            return value
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        return _sample_object(schema, defs, path)
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0], defs, path)
    return _sample_simple(schema, defs, path)


def _sample_object(schema: dict[str, Any], defs: dict[str, Any], path: str) -> Any:
    left_out = [branch["required"][0] for branch in schema.get("oneOf", [])[1:]]
    return {
        name: _sample(field, defs, f"{path}.{name}")
        for name, field in schema["properties"].items()
        if name not in left_out
    }


def _sample_simple(schema: dict[str, Any], defs: dict[str, Any], path: str) -> Any:
    kind = schema["type"]
    if kind == "object":
        return {"key": _sample(schema["additionalProperties"], defs, f"{path}{{}}")}
    if kind == "array":
        items = schema.get("prefixItems") or [schema["items"]]
        return [_sample(item, defs, f"{path}[]") for item in items]
    if kind == "string":
        pattern = schema.get("pattern", "")
        return next((v for p, v in _BY_PATTERN.items() if pattern.startswith(p)), "text")
    return {"integer": 1, "number": 0.5, "boolean": True}[kind]
