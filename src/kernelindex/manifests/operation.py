"""OperationSpec: what is computed, without the values of any shape."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, NoReturn

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from kernelindex.errors import ManifestError
from kernelindex.manifests.expressions import axis_names
from kernelindex.manifests.fields import (
    Artifact,
    Int,
    Items,
    Maybe,
    Model,
    Slug,
    Text,
    Text2000,
    Token,
    one_of,
)


def _needs(role: str, field: str) -> dict[str, Any]:
    return {"if": {"properties": {"role": {"const": role}}}, "then": {"required": [field]}}


class Axis(Model):
    """One dimension that shapes are written in."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [_needs("constant", "value"), _needs("derived", "expression")]}
    )

    role: Literal["variable", "constant", "derived"] = Field(
        description="Free, fixed by the operation, or computed from other axes."
    )
    type: Literal["integer"] = Field(description="Axes are integers.")
    value: Maybe[Int] = Field(None, description="The value; needed for a constant axis.")
    minimum: Maybe[Int] = Field(None, description="Smallest value allowed.")
    maximum: Maybe[Int] = Field(None, description="Largest value allowed.")
    expression: Maybe[Text] = Field(
        None, description="Integers, axis names, + - * % // and parentheses; needed when derived."
    )

    @model_validator(mode="after")
    def _role_has_its_value(self) -> Axis:
        if self.role == "constant" and self.value is None:
            raise PydanticCustomError("constant_value", "a value, as the axis is constant")
        if self.role == "derived" and self.expression is None:
            raise PydanticCustomError("derived_expression", "an expression, as the axis is derived")
        return self


class TensorSpec(Model):
    """A tensor by its symbolic shape."""

    shape: Annotated[Items[Int | Token], Field(min_length=1)] = Field(
        description="Integers and axis names, outermost first."
    )
    dtype: Token = Field(description="Element type, or a family such as float.")
    layout: Maybe[Literal["row_major", "col_major", "contiguous", "strided"]] = Field(
        None, description="Memory layout."
    )


class ScalarSpec(Model):
    """A scalar argument."""

    dtype: Token = Field(description="Type of the value.")


class Argument(Model):
    """One input or output: exactly one of tensor and scalar."""

    model_config = ConfigDict(json_schema_extra=one_of("tensor", "scalar"))

    name: Token = Field(description="Name of the argument.")
    tensor: Maybe[TensorSpec] = Field(None, description="Shape and element type.")
    scalar: Maybe[ScalarSpec] = Field(None, description="Type of a scalar.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Argument:
        if (self.tensor is None) == (self.scalar is None):
            raise PydanticCustomError("exactly_one", "exactly one of tensor and scalar")
        return self


class Semantics(Model):
    """What the operation means beyond its shapes."""

    expression: Maybe[Text2000] = Field(None, description="Formula for people.")
    mutation: Literal["none", "in_place", "destination"] = Field(
        description="Whether inputs are changed or outputs passed in."
    )
    determinism: Literal["deterministic", "nondeterministic", "unspecified"] = Field(
        description="Whether equal inputs must give equal bits."
    )


class Reference(Model):
    """A program that defines the result."""

    language: Token = Field(description="Language of the program.")
    artifact: Maybe[Artifact] = Field(None, description="The program.")


class OperationSpec(Model):
    """What is computed: axes, inputs, outputs, semantics; no shape values."""

    family: Slug = Field(description="Family the operation belongs to.")
    axes: dict[Token, Axis] = Field(description="Dimensions by name.")
    inputs: Annotated[Items[Argument], Field(min_length=1)] = Field(description="Arguments read.")
    outputs: Annotated[Items[Argument], Field(min_length=1)] = Field(description="Results.")
    semantics: Semantics = Field(description="Meaning beyond shapes.")
    reference: Maybe[Reference] = Field(None, description="A program that defines the result.")

    @model_validator(mode="after")
    def _names_are_sound(self) -> OperationSpec:
        for field in ("inputs", "outputs"):
            _check_arguments(field, getattr(self, field), self.axes)
        _check_derived(self.axes)
        return self


def _check_arguments(field: str, arguments: tuple[Argument, ...], axes: dict[str, Axis]) -> None:
    names: set[str] = set()
    for argument in arguments:
        if argument.name in names:
            _refuse("repeated_name", f"one argument named {argument.name!r} in {field}")
        names.add(argument.name)
        for extent in argument.tensor.shape if argument.tensor else ():
            if isinstance(extent, str) and extent not in axes:
                named = f"the shape of {argument.name} names it"
                _refuse("unknown_axis", f"an axis {extent!r}, as {named}")


def _used_axes(name: str, expression: str, axes: dict[str, Axis]) -> frozenset[str]:
    try:
        used = axis_names(expression)
    except ManifestError as error:
        _refuse("expression", f"axis {name}: {error.message}")
    if unknown := sorted(used - axes.keys()):
        _refuse("unknown_axis", f"an axis {unknown[0]!r}, as the expression of {name} names it")
    return used


def _check_derived(axes: dict[str, Axis]) -> None:
    uses = {
        name: _used_axes(name, axis.expression, axes)
        for name, axis in axes.items()
        if axis.expression is not None
    }
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        circle = error.args[1]
        shown = ", ".join(circle[:8]) + (", ..." if len(circle) > 8 else "")
        _refuse("cyclic_axes", f"no circle of derived axes: {shown}")


def _refuse(rule: str, wanted: str) -> NoReturn:
    raise PydanticCustomError(rule, "{wanted}", {"wanted": wanted})
