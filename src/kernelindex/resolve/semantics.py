"""What an operation computes and what it costs, for reading: axes, tensors, expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from kernelindex.registry.costs import bytes_terms, complete_axes, cost_of, shape_of
from kernelindex.resolve.answer import Part
from kernelindex.resolve.formulas import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernelindex.registry.operations import CostModel, Operation, TensorInfo


class AxisView(Part):
    """One axis of an operation."""

    name: str = Field(description="its name")
    title: str = Field("", description="what it counts, in words")
    aliases: tuple[str, ...] = Field((), description="other names that a question may use")
    value: str = Field("", description="a fixed value, or the expression it follows from")


class TensorView(Part):
    """One tensor or scalar of an operation."""

    name: str = Field(description="its name")
    shape: str = Field(description="extents as axis names, empty for a scalar")
    dtype: str = Field(description="dtype id, or the rule it follows")
    role: str = Field("", description="static, such as weights, or per call")
    output: bool = Field(False, description="whether it is written")
    example: str = Field("", description="extents at the example shape")


class CostView(Part):
    """The work of one pass: expressions, and what they give at the example shape."""

    timed_pass: str = Field(alias="pass", description="timed pass")
    flops: str = Field("", description="floating point operations, as an expression of axes")
    traffic: tuple[str, ...] = Field((), description="compulsory bytes, a term for each size")
    example_flops: int | None = Field(None, description="operations at the example shape")
    example_bytes: int | None = Field(None, description="compulsory bytes at the example shape")


class Semantics(Part):
    """What an operation computes."""

    expression: str = Field("", description="the computation, as near to a formula as it gets")
    description: str = Field("", description="what its source says of it")
    axes: tuple[AxisView, ...] = Field((), description="axes in order")
    tensors: tuple[TensorView, ...] = Field((), description="inputs, then outputs")
    costs: tuple[CostView, ...] = Field((), description="cost model by pass; empty if none")
    example: dict[str, int] = Field(default_factory=dict, description="axes of the example shape")
    source: str = Field("", description="where the definition is from")


def view_semantics(
    operation: Operation, axes: Mapping[str, int], dtypes: Mapping[str, str]
) -> Semantics:
    """An operation of our registry, with its costs at an example shape."""
    known = complete_axes(operation, axes) or {}
    inputs = (_tensor(one, known, output=False) for one in operation.inputs)
    outputs = (_tensor(one, known, output=True) for one in operation.outputs)
    return Semantics(
        expression=operation.expression,
        axes=tuple(_axes(operation)),
        tensors=(*inputs, *outputs),
        costs=tuple(
            _cost(operation, name, model, axes, dtypes) for name, model in operation.costs.items()
        ),
        example=dict(axes) if known else {},
        source=operation.source,
    )


def read_semantics(document: Mapping[str, Any]) -> Semantics:
    """An operation that is not of our registry, as its own manifest states it."""
    spec = document["spec"]
    tensors = [
        _stated(one, output=output)
        for output, name in ((False, "inputs"), (True, "outputs"))
        for one in spec.get(name, ())
    ]
    refs = document["metadata"].get("sourceRefs", ())
    return Semantics(
        expression=spec.get("semantics", {}).get("expression", ""),
        description=document["metadata"].get("description", ""),
        axes=tuple(_stated_axis(name, axis) for name, axis in spec.get("axes", {}).items()),
        tensors=tuple(tensors),
        source=refs[0]["url"] if refs else "",
    )


def _axes(operation: Operation) -> Iterable[AxisView]:
    for axis in operation.axes:
        least = f"the least of {', '.join(axis.least_of)}" if axis.least_of else ""
        yield AxisView(
            name=axis.name,
            title=axis.title if axis.title != axis.name else "",
            aliases=axis.aliases,
            value=axis.expression or least,
        )


def _tensor(tensor: TensorInfo, axes: Mapping[str, int], *, output: bool) -> TensorView:
    sizes = shape_of(tensor, axes) if axes else ()
    return TensorView(
        name=tensor.name,
        shape=" × ".join(map(str, tensor.shape)),
        dtype=_dtype_words(tensor.dtype),
        role=tensor.role.replace("_", " "),
        output=output,
        example=" × ".join(f"{size:,}" for size in sizes),
    )


def _dtype_words(rule: str) -> str:
    if rule == "float":
        return "as the workload says"
    return f"that of {rule.removeprefix('like:')}" if rule.startswith("like:") else rule


def _cost(
    operation: Operation,
    timed_pass: str,
    model: CostModel,
    axes: Mapping[str, int],
    dtypes: Mapping[str, str],
) -> CostView:
    terms = bytes_terms(operation, timed_pass)
    work = cost_of(operation.slug, timed_pass, axes, dtypes)
    return CostView(
        timed_pass=timed_pass,
        flops=model.flops or "",
        traffic=tuple(readable(one.elements, one.like) for one in terms),
        example_flops=work.flops if work else None,
        example_bytes=work.bytes if work else None,
    )


def _stated(one: Mapping[str, Any], *, output: bool) -> TensorView:
    tensor = one.get("tensor", {})
    dtype = tensor.get("dtype") or one.get("scalar", {}).get("dtype", "")
    shape = " × ".join(map(str, tensor.get("shape", ())))
    return TensorView(name=one["name"], shape=shape, dtype=str(dtype), output=output)


def _stated_axis(name: str, axis: Mapping[str, Any]) -> AxisView:
    fixed = axis.get("value", axis.get("expression", ""))
    return AxisView(name=name, title="" if fixed != "" else "varies", value=str(fixed))
