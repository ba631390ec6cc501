"""Our operations as OperationSpec manifests: one form, so that every source names the same."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.manifests import V1ALPHA1, Manifest, parse
from kernelindex.registry.operations import load_operations

if TYPE_CHECKING:
    from kernelindex.registry.operations import AxisInfo, TensorInfo

__all__ = ["build_operation"]


@cache
def build_operation(slug: str) -> Manifest:
    """The OperationSpec of one of our operations; its name is our slug.

    Raises RequestError ``operation.unknown`` for a slug that is none of ours.
    """
    operation = load_operations().get(slug)
    if operation is None:
        raise RequestError(
            f"no operation here has the slug {slug!r}; `ki bench list` has those that can be run",
            code="operation.unknown",
        )
    return parse(
        {
            "apiVersion": V1ALPHA1,
            "kind": "OperationSpec",
            "metadata": {"name": slug, "title": operation.title},
            "spec": {
                "family": operation.family,
                "axes": {axis.name: _axis(axis) for axis in operation.axes if not axis.least_of},
                "inputs": [_argument(tensor) for tensor in operation.inputs],
                "outputs": [_argument(tensor) for tensor in operation.outputs],
                "semantics": {
                    "expression": operation.expression,
                    "mutation": "none",
                    "determinism": "unspecified",
                },
            },
        }
    )


def _axis(axis: AxisInfo) -> dict[str, Any]:
    if axis.expression is not None:
        return {"role": "derived", "type": "integer", "expression": axis.expression}
    return {"role": "variable", "type": "integer"}


def _argument(tensor: TensorInfo) -> dict[str, Any]:
    dtype = "float" if tensor.dtype.startswith("like:") else tensor.dtype
    if not tensor.shape:
        return {"name": tensor.name, "scalar": {"dtype": dtype}}
    return {"name": tensor.name, "tensor": {"shape": list(tensor.shape), "dtype": dtype}}
