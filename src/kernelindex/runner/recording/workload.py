"""A point of a plan as manifests: our operation, and the exact case that was measured.

The OperationSpec of an operation is the one every source here writes for it, so that a
controlled run has the shape of the published runs it is shown beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.ids import slugify
from kernelindex.manifests import Manifest, parse
from kernelindex.registry.costs import complete_axes, shape_of
from kernelindex.registry.operation_specs import build_operation
from kernelindex.registry.operations import load_operations
from kernelindex.runner.operations.case import make_case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.registry.operations import Operation
    from kernelindex.runner.operations.description import Operation as Described
    from kernelindex.runner.plan import Point, Tolerance

V1 = "kernelindex.dev/v1alpha1"
V2 = "kernelindex.dev/v1alpha2"
COMPARATOR = "each_output"
"""Every output and every gradient is held to tolerances of its own."""

CORRECTNESS = {
    "comparator": COMPARATOR,
    "nanPolicy": "reject",
    "infinityPolicy": "reject",
    "reference": {"precision": "fp32", "tf32": False, "language": "python"},
}
"""One policy for every controlled workload; its digest is a part of the cohort's key.

fp32 is the least precision of a reference: small cases compute in fp64.
"""
GENERATOR_VERSION = 1
ROUTED = "top_k_index"
"""The input whose presence makes an operation's work depend on its routing."""


def build_workload(point: Point, described: Described) -> Manifest:
    """The WorkloadCase of a plan's point, with the scalars of the operation's description.

    The seed is no part of it: a batch draws its own and reveals it in the run.
    """
    operation = load_operations()[point.operation]
    dtypes = make_case(described, point.axes, point.dtypes).dtypes
    spec: dict[str, Any] = {
        "operationSpecDigest": build_operation(operation.slug).digest,
        "axes": dict(point.axes),
        "tensors": _tensors(operation, point, dtypes),
        "correctness": CORRECTNESS,
        "gradients": [tensor.name for tensor in operation.inputs if tensor.gradient],
        "upstreamGradients": {
            tensor.name: _data(operation.slug, f"upstream of {tensor.name}", point)
            for tensor in operation.outputs
        },
        "tolerances": {name: _tolerance(one) for name, one in point.tolerances.items()},
    }
    if described.scalars:
        spec["scalars"] = {name: _scalar(value) for name, value in described.scalars.items()}
    routing = _routing(operation, point)
    if routing:
        spec["routing"] = routing
    metadata = {"name": _name(point, dtypes), "title": _title(operation, point)}
    return parse({"apiVersion": V2, "kind": "WorkloadCase", "metadata": metadata, "spec": spec})


def _tensors(operation: Operation, point: Point, dtypes: Mapping[str, str]) -> dict[str, Any]:
    axes = complete_axes(operation, point.axes)
    if axes is None:
        wanted = ", ".join(axis.name for axis in operation.axes if not axis.derived)
        raise RequestError(
            f"{operation.slug} needs {wanted}; got {', '.join(point.axes) or 'no axes'}",
            code="workload.axes",
        )
    return {
        tensor.name: {
            "shape": list(shape_of(tensor, axes)),
            "dtype": dtypes[tensor.name],
            "role": tensor.role,
            "data": _data(operation.slug, tensor.name, point),
        }
        for tensor in operation.inputs
    }


def _data(slug: str, tensor: str, point: Point) -> dict[str, Any]:
    """The generator of the operation's folder, which makes all its tensors from one seed."""
    parameters = {"tensor": tensor, "draw": "own", "version": GENERATOR_VERSION}
    return {"generator": _generator(slug), "parameters": parameters | _plain(point)}


def _generator(slug: str) -> str:
    return f"kernelindex_{slug.replace('-', '_')}"


def _plain(point: Point) -> dict[str, Any]:
    """The point's generator parameters that a manifest can hold."""
    kinds = (bool, int, float, str)
    return {name: value for name, value in point.parameters.items() if isinstance(value, kinds)}


def _tolerance(stated: Tolerance) -> dict[str, float]:
    """The bounds that are asked."""
    found = {
        "maxFrobeniusError": stated.frobenius,
        "maxWorstRowError": stated.worst_row,
        "maxRelativeError": stated.max_rel,
        "maxAbsoluteError": stated.max_abs,
        "maxErrorRatio": stated.error_ratio,
    }
    return {name: value for name, value in found.items() if value is not None}


def _scalar(value: float) -> dict[str, Any]:
    return {"dtype": "int64" if isinstance(value, int) else "fp64", "value": value}


def _routing(operation: Operation, point: Point) -> dict[str, Any] | None:
    if not is_routed(operation.slug) or point.distribution is None:
        return None
    routing = {"distribution": point.distribution, "generator": _generator(operation.slug)}
    parameters = _plain(point)
    return routing | ({"parameters": parameters} if parameters else {})


def is_routed(slug: str) -> bool:
    """Whether the operation's work depends on how its tokens are routed."""
    return load_operations()[slug].tensor(ROUTED) is not None


def _name(point: Point, dtypes: Mapping[str, str]) -> str:
    sizes = "-".join(f"{name}{value}" for name, value in point.axes.items())
    kinds = "-".join(dict.fromkeys(dtypes.values()))
    routed = point.distribution if is_routed(point.operation) else None
    text = f"{point.operation} {sizes} {kinds} {routed or ''} controlled"
    return slugify(text, "workload", "0" * 8)


def _title(operation: Operation, point: Point) -> str:
    sizes = ", ".join(f"{name} {value}" for name, value in point.axes.items())
    return f"{operation.title} · {sizes}"[:200]
