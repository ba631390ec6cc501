"""A case: one operation at given axes, dtypes and draw, with every shape evaluated."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.runner.operations.description import Operation, TensorSpec, load_operation
from kernelindex.runner.operations.dtypes import dtype_of
from kernelindex.runner.operations.expressions import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.plan import Point

__all__ = ["Case", "case_of", "make_case"]


@dataclass(frozen=True, slots=True)
class Case:
    """What generators and references are given.

    ``axes`` holds free and derived axes, ``dtypes`` every input and output by name,
    ``parameters`` those of the distribution and the draw together.
    """

    operation: Operation
    axes: Mapping[str, int]
    dtypes: Mapping[str, str]
    scalars: Mapping[str, float]
    draw: str
    distribution: str
    parameters: Mapping[str, Any]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an input, an output, or the gradient ``grad_<input>``."""
        return tuple(evaluate(size, self.axes) for size in self.spec(name).shape)

    def dtype(self, name: str) -> str:
        """The dtype's name of an input, an output, or the gradient ``grad_<input>``."""
        return self.dtypes[self.spec(name).name]

    def spec(self, name: str) -> TensorSpec:
        """The tensor's description; a gradient has its input's. Raises ``RequestError``."""
        plain = name.removeprefix("grad_")
        for spec in (*self.operation.inputs, *self.operation.outputs):
            if spec.name in {name, plain}:
                return spec
        raise RequestError(f"{self.operation.slug} has no tensor {name!r}")

    def size(self, name: str) -> int:
        """How many elements that tensor has."""
        return math.prod(self.shape(name))

    def nbytes(self, name: str) -> int:
        """How many bytes that tensor takes."""
        return self.size(name) * dtype_of(self.dtype(name)).bytes

    @property
    def set_bytes(self) -> int:
        """How many bytes one set of inputs takes, with the outputs."""
        return sum(
            self.nbytes(one.name) for one in (*self.operation.inputs, *self.operation.outputs)
        )

    def for_draw(self, draw: str) -> Case:
        """The case under another draw, its axes changed as the operation says; each stays ≥ 1.

        Raises ``RequestError`` for a draw that the operation does not have.
        """
        found = self.operation.draws.get(draw)
        if found is None and draw != "own":
            known = ", ".join(self.operation.draws) or "own"
            raise RequestError(f"{self.operation.slug} has no draw {draw!r}; it has: {known}")
        changes = found.axes if found else {}
        sizes = {name: max(1, evaluate(text, self.axes)) for name, text in changes.items()}
        parameters = {**self.parameters, **(found.parameters if found else {})}
        changed = self.with_axes(sizes)
        return replace(changed, draw=draw, parameters=MappingProxyType(parameters))

    def with_axes(self, sizes: Mapping[str, int]) -> Case:
        """The case with some free axes of another size; derived axes follow."""
        free = {name: self.axes[name] for name in self.operation.axes} | dict(sizes)
        return replace(self, axes=_all_axes(self.operation, free))


def case_of(point: Point) -> Case:
    """The case of a plan's point under its own draw. Raises as ``make_case``."""
    return make_case(
        point.operation,
        point.axes,
        point.dtypes,
        distribution=point.distribution,
        parameters=point.parameters,
    )


def make_case(
    operation: Operation | str,
    axes: Mapping[str, int],
    dtypes: Mapping[str, str],
    *,
    distribution: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    scalars: Mapping[str, float] | None = None,
) -> Case:
    """The case of an operation at ``axes`` (free ones) under its own draw.

    ``dtypes`` needs only the ``free`` tensors; the operation's default serves where it has one,
    and its first distribution where none or ``own`` is named. Raises ``RequestError`` where an
    axis, dtype or distribution lacks or does not exist.
    """
    if isinstance(operation, str):
        operation = load_operation(operation)
    _check_axes(operation, axes)
    made = Case(
        operation=operation,
        axes=_all_axes(operation, axes),
        dtypes=MappingProxyType(_all_dtypes(operation, dtypes)),
        scalars=MappingProxyType({**operation.scalars, **(scalars or {})}),
        draw="own",
        distribution=_distribution(operation, distribution),
        parameters=MappingProxyType(dict(parameters or {})),
    )
    return made.for_draw("own")


def _distribution(operation: Operation, name: str | None) -> str:
    known = operation.distributions
    if name not in (None, "own", *known):
        raise RequestError(
            f"{operation.slug} has no distribution {name!r}; it has: {', '.join(known)}"
        )
    return known[0] if name is None or name == "own" else name


def _check_axes(operation: Operation, axes: Mapping[str, int]) -> None:
    wanted, given = set(operation.axes), set(axes) - set(operation.derived_axes)
    if wanted != given or any(type(size) is not int or size < 1 for size in axes.values()):
        raise RequestError(
            f"{operation.slug}: axes {dict(axes)!r}; wanted a whole number from 1 for each of "
            f"{', '.join(operation.axes)}"
        )


def _all_axes(operation: Operation, axes: Mapping[str, int]) -> Mapping[str, int]:
    made = {name: axes[name] for name in operation.axes}
    for name, expression in operation.derived_axes.items():
        made[name] = evaluate(expression, made)
    return MappingProxyType(made)


def _all_dtypes(operation: Operation, given: Mapping[str, str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for spec in (*operation.inputs, *operation.outputs):
        made[spec.name] = _dtype(operation, spec, given)
        dtype_of(made[spec.name])
    return made


def _dtype(operation: Operation, spec: TensorSpec, given: Mapping[str, str]) -> str:
    if spec.dtype.startswith("like:"):
        like = spec.dtype.removeprefix("like:")
        named = {tensor.name: tensor for tensor in (*operation.inputs, *operation.outputs)}
        return _dtype(operation, named[like], given)
    if spec.dtype != "free":
        return spec.dtype
    found = given.get(spec.name) or operation.default_dtypes.get(spec.name)
    if found is None:
        raise RequestError(f"{operation.slug}: no dtype is given for {spec.name!r}")
    return found
