"""A matched row's workload side as manifests: operation, workload, implementation, environment.

Everything here is shared by many rows, so each function keeps what it made.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from kernelindex.ids import slugify
from kernelindex.manifests import Manifest, parse
from kernelindex.registry.costs import shape_of
from kernelindex.registry.hardware import GpuMatch, resolve_gpu
from kernelindex.registry.operation_specs import build_operation
from kernelindex.sources.liger.table import load_lines, projects, releases

if TYPE_CHECKING:
    from kernelindex.registry.operations import TensorInfo
    from kernelindex.sources.liger.matching import Matched

__all__ = [
    "build_environment",
    "build_implementation",
    "build_project",
    "build_workload",
]

V1 = "kernelindex.dev/v1alpha1"
V2 = "kernelindex.dev/v1alpha2"
REPOSITORY = "https://github.com/linkedin/Liger-Kernel"
UNKNOWN = "unknown"
NAME_LENGTH = 200
KEPT = 4096
"""Manifests kept for the rows that share them; a file may not grow memory beyond it."""


def build_workload(row: Matched) -> Manifest:
    """The exact case: axes, inputs with roles and generators, routing where it has any."""
    identity = (
        row.entry.kernel,
        row.entry.id,
        tuple(row.axes.items()),
        tuple(row.dtypes.items()),
        tuple(row.scalars.items()),
    )
    known = _workloads.get(identity)
    if known is None:
        if len(_workloads) >= KEPT:
            _workloads.clear()
        known = _workloads[identity] = _build_workload(row)
    return known


_workloads: dict[tuple[object, ...], Manifest] = {}


def _build_workload(row: Matched) -> Manifest:
    operation = row.operation
    spec: dict[str, Any] = {
        "operationSpecDigest": build_operation(operation.slug).digest,
        "axes": dict(row.axes),
        "tensors": {tensor.name: _tensor(row, tensor) for tensor in operation.inputs},
        "correctness": {"comparator": "not_asserted"},
    }
    if row.scalars:
        spec["scalars"] = {
            name: {"dtype": dtype, "value": value} for name, (dtype, value) in row.scalars.items()
        }
    if row.entry.routing:
        spec["routing"] = dict(row.entry.routing)
    metadata = {"name": _workload_name(row), "title": _workload_title(row)}
    return parse({"apiVersion": V2, "kind": "WorkloadCase", "metadata": metadata, "spec": spec})


@lru_cache(maxsize=KEPT)
def build_implementation(line_id: str, operation: str, version: str) -> Manifest:
    """What ran: a line at the version its package reported, or without one where none is.

    Install recipe, tested architectures and concluded licence only where the published
    release of that version contains the line.
    """
    line = load_lines()[line_id]
    released = version in line.releases
    revision = {"repository": line.repository} if line.repository else {}
    if line.versioned and version:
        revision["version"] = version
    target = {"language": line.language, "symbol": line.symbol, "interface": "pytorch"}
    if line.path:
        target["path"] = line.path
    tested = releases()["architectures"].get(version, []) if released else []
    spec: dict[str, Any] = {
        "projectRevision": revision,
        "operation": {"specDigest": build_operation(operation).digest},
        "callable": target,
        "support": {"hardwareArchitectures": tested, "dtypes": []},
        "licensing": releases()["licensing"] if released else {"declared": line.licence},
    }
    if released:
        spec["buildVariants"] = [_pip(version)]
    name = slugify(f"{line.id} {operation}", "implementation", "0" * 8)
    metadata = {"name": name, "title": line.title}
    kind = "ImplementationRevision"
    return parse({"apiVersion": V2, "kind": kind, "metadata": metadata, "spec": spec})


@cache
def build_project(slug: str) -> Manifest:
    """The SoftwareProject of that slug."""
    spec = dict(projects()[slug])
    title = spec.pop("title")
    return parse(
        {
            "apiVersion": V1,
            "kind": "SoftwareProject",
            "metadata": {"name": slug, "title": title},
            "spec": {"name": title, **spec},
        }
    )


@lru_cache(maxsize=KEPT)
def build_environment(gpu_name: str) -> Manifest:
    """The device as the row names it; the file states no software versions."""
    match = resolve_gpu(gpu_name)
    return parse(
        {
            "apiVersion": V1,
            "kind": "ExecutionEnvironment",
            "metadata": {
                "name": slugify(f"liger {gpu_name}", "environment", "0" * 8)[:NAME_LENGTH],
                "title": f"Liger benchmark host · {gpu_name}"[:200],
            },
            "spec": {"hardware": _hardware(gpu_name, match), "software": {}},
        }
    )


def _hardware(gpu_name: str, match: GpuMatch) -> dict[str, Any]:
    return {
        "vendor": match.vendor or UNKNOWN,
        "product": gpu_name[:200],
        "architecture": match.architecture or UNKNOWN,
        "count": 1,
    }


def _tensor(row: Matched, tensor: TensorInfo) -> dict[str, Any]:
    described: dict[str, Any] = {
        "shape": list(shape_of(tensor, row.all_axes)),
        "dtype": row.dtypes[tensor.name],
        "role": tensor.role,
    }
    generator = row.entry.generators.get(tensor.name)
    if generator:
        described["data"] = dict(generator)
    return described


def _pip(version: str) -> dict[str, Any]:
    package = {"kind": "pip", "package": "liger-kernel", "version": version}
    return {"name": "pip", "install": package}


def _workload_name(row: Matched) -> str:
    sizes = "-".join(f"{name}{value}" for name, value in row.axes.items())
    dtypes = "-".join(dict.fromkeys(row.dtypes.values()))
    return slugify(f"{row.operation.slug} {sizes} {dtypes}", "workload", "0" * 8)


def _workload_title(row: Matched) -> str:
    sizes = ", ".join(f"{name} {value}" for name, value in row.axes.items())
    return f"{row.operation.title} · {sizes}"[:200]
