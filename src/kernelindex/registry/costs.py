"""How much work one call of an operation is: FLOPs and compulsory bytes.

Compulsory bytes count every input and output of the pass once: forward reads its inputs
and writes its outputs; backward also reads the outputs' gradients and writes one gradient
for each input that has one; full reads inputs and outputs' gradients and writes outputs
and inputs' gradients. Whatever an implementation saves in between is not compulsory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.errors import ManifestError
from kernelindex.manifests.expressions import evaluate
from kernelindex.registry.dtypes import DTYPES
from kernelindex.registry.operations import (
    BytesTerm,
    Operation,
    TensorInfo,
    load_operations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Work", "bytes_terms", "complete_axes", "cost_of", "element_bits", "shape_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Floating point operations and compulsory bytes; None where no model is known."""

    flops: int | None
    bytes: int | None


def cost_of(
    operation: str,
    timed_pass: str,
    axes: Mapping[str, int],
    dtypes: Mapping[str, str],
    *,
    surely: bool = False,
) -> Work | None:
    """The work of one call, or None for an operation, pass or axes that no model covers.

    ``axes`` are under our names, ``dtypes`` maps tensor to dtype id. ``inference`` costs
    what ``forward`` does. ``surely`` counts of what depends on the data, such as the experts
    that tokens choose, no more than any data need.
    """
    known = load_operations().get(operation)
    if known is None:
        return None
    model = known.costs.get("forward" if timed_pass == "inference" else timed_pass)
    if model is None:
        return None
    try:
        values = complete_axes(known, axes, surely=surely)
        if values is None:
            return None
        flops = None if model.flops is None else evaluate(model.flops, values)
        return Work(flops=flops, bytes=_bytes(known, timed_pass, values, dtypes))
    except ManifestError:  # an axis of 0 that something is divided by
        return None


def bytes_terms(operation: Operation, timed_pass: str) -> tuple[BytesTerm, ...]:
    """What the compulsory bytes of a pass are the sum of; empty where no model covers it."""
    model = operation.costs.get("forward" if timed_pass == "inference" else timed_pass)
    if model is None:
        return ()
    return _tensor_terms(operation, timed_pass) if model.bytes is None else model.bytes


def complete_axes(
    operation: Operation, axes: Mapping[str, int], *, surely: bool = False
) -> dict[str, int] | None:
    """``axes`` of the operation with its derived ones added, or None where one is missing."""
    given = [axis.name for axis in operation.axes if not axis.derived]
    if any(name not in axes for name in given):
        return None
    values = {name: axes[name] for name in given}
    for axis in operation.axes:
        if axis.expression is not None:
            values[axis.name] = evaluate(axis.expression, values)
        elif axis.least_of:
            bounds = (axis.surely,) if surely and axis.surely else axis.least_of
            values[axis.name] = min(evaluate(text, values) for text in bounds)
    return values


def shape_of(tensor: TensorInfo, axes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of a tensor; ``axes`` as completed, empty for a scalar."""
    return tuple(
        extent if isinstance(extent, int) else evaluate(extent, axes) for extent in tensor.shape
    )


def element_bits(operation: Operation, tensor: str, dtypes: Mapping[str, str]) -> int | None:
    """Bits of one element: as the workload states, else by the tensor's rule, else None."""
    info = operation.tensor(tensor)
    stated = dtypes.get(tensor)
    if stated is None and info is not None:
        if info.dtype.startswith("like:"):
            return element_bits(operation, info.dtype.removeprefix("like:"), dtypes)
        stated = info.dtype
    known = DTYPES.get(stated) if stated else None
    return known.bits if known else None


def _bytes(
    operation: Operation,
    timed_pass: str,
    axes: Mapping[str, int],
    dtypes: Mapping[str, str],
) -> int | None:
    bits = 0
    for term in bytes_terms(operation, timed_pass):
        size = element_bits(operation, term.like, dtypes)
        if size is None:
            return None
        bits += evaluate(term.elements, axes) * size
    return bits // 8


def _tensor_terms(operation: Operation, timed_pass: str) -> tuple[BytesTerm, ...]:
    moved = list(operation.inputs)
    if timed_pass in {"backward", "full"}:
        moved += [tensor for tensor in operation.inputs if tensor.gradient]
        moved += operation.outputs  # their gradients, read
    if timed_pass != "backward":
        moved += operation.outputs
    return tuple(BytesTerm(elements=_elements(tensor), like=tensor.name) for tensor in moved)


def _elements(tensor: TensorInfo) -> str:
    return " * ".join(f"({extent})" for extent in tensor.shape) or "1"
