"""What ``operation.json`` says of an operation: tensors, draws, tolerances, shapes, candidates.

The file is read by the worker on a bare machine and by the index when it plans, so this module
needs the standard library only. Keys are the attributes in camelCase.
"""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - read at run time to parse operations
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kernelindex.errors import NotFoundError, RegistryError
from kernelindex.runner.dataclass_json import ShapeError, from_json
from kernelindex.runner.operations.expressions import axis_names
from kernelindex.runner.plan import PASSES

__all__ = [
    "DRAWS",
    "CandidateSpec",
    "Draw",
    "Operation",
    "Published",
    "RowRule",
    "TensorSpec",
    "ToleranceSpec",
    "folder_of",
    "load_operation",
    "module_name",
    "parse_operation",
    "slugs",
]

DRAWS = ("own", "stress", "uneven", "empty", "overfull")
FORMAT_VERSION = 1

_HERE = Path(__file__).parent


def _need(condition: bool, wanted: str) -> None:
    if not condition:
        raise ValueError(wanted)


def _need_among(value: str, known: tuple[str, ...], name: str) -> None:
    _need(value in known, f"{name} of {', '.join(known)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """An input or output.

    ``dtype`` is ``free`` (the case says it), ``like:<tensor>``, or a dtype's name. ``shape``
    holds expressions over axes. ``role`` is ``per_call``, or ``static`` for weights. ``group``
    is what the worst one of is looked for: ``row`` (all axes but the last), ``leading`` (the
    first axis: experts), ``whole``; where it is null, static tensors go by the first axis.
    """

    name: str
    shape: tuple[str, ...]
    dtype: str = "free"
    role: str = "per_call"
    differentiable: bool = False
    group: str | None = None

    def __post_init__(self) -> None:
        _need_among(self.role, ("per_call", "static"), "role")
        _need_among(self.worst_of, ("row", "leading", "whole"), "group")

    @property
    def worst_of(self) -> str:
        """``group``, or what is usual for the rank and role; a vector counts as whole."""
        if self.group is not None:
            return self.group
        if len(self.shape) < 2:
            return "whole"
        return "leading" if self.role == "static" else "row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How a draw differs from the point: axes by expression, and the generator's parameters."""

    axes: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceSpec:
    """Bounds for one output or gradient; null means that this bound is not asked.

    ``frobenius`` and ``worst_row`` are relative to the reference's norm, ``max_rel`` is
    max |a - b| / (|b| + rms b), ``error_ratio`` is to the trusted implementation's error, and
    ``row_floor`` is the share of the typical row's norm below which a row counts as that large.
    ``nan`` says what NaN in the reference means: ``reject`` or ``match`` (NaN in both).
    """

    frobenius: float
    worst_row: float | None = None
    max_rel: float | None = None
    max_abs: float | None = None
    error_ratio: float | None = 2.0
    row_floor: float = 1e-4
    nan: str = "reject"

    def __post_init__(self) -> None:
        _need(self.frobenius > 0 and self.row_floor > 0, "bounds above 0")
        _need_among(self.nan, ("reject", "match"), "nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A shape that a public source measured."""

    axes: Mapping[str, int]
    dtypes: Mapping[str, str]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRule:
    """Rows along ``axis`` are independent, so the reference may be computed in slices of them.

    ``reduce`` names outputs that are a ``mean`` or ``sum`` over the rows; other outputs have
    the axis first, as have the inputs that are sliced.
    """

    axis: str
    reduce: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for how in self.reduce.values():
            _need_among(how, ("mean", "sum"), "reduce")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSpec:
    """An implementation that the registry offers.

    ``line`` is its implementation line's id where that differs from ``id``; ``dtypes`` are
    those of the first input that it takes, none meaning all, ``cuda_dtypes`` those on a
    GPU where it takes fewer there; ``licence_state`` is ``declared``
    by its project, ``concluded`` by us, or ``unknown``; ``min_arch`` is as ``sm_90``.
    """

    id: str
    title: str
    project: str
    entry: str
    line: str | None = None
    interface: str = "torch"
    passes: tuple[str, ...] = PASSES
    packages: tuple[str, ...] = ()
    licence: str | None = None
    licence_state: str = "declared"
    repository: str | None = None
    path: str | None = None
    dtypes: tuple[str, ...] = ()
    cuda_dtypes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("cuda", "cpu")
    min_arch: str | None = None
    prepare: str | None = None

    def __post_init__(self) -> None:
        _need_among(self.interface, ("torch", "numpy"), "interface")
        _need_among(self.licence_state, ("declared", "concluded", "unknown"), "licenceState")
        _need(set(self.passes) <= set(PASSES), f"passes of {', '.join(PASSES)}")
        _need(set(self.devices) <= {"cuda", "cpu"}, "devices of cuda, cpu")
        _need(set(self.cuda_dtypes) <= set(self.dtypes), "cudaDtypes that are among dtypes")
        _need(":" in self.entry, "entry as module:function")

    def dtypes_on(self, device: str) -> tuple[str, ...]:
        """Those of the first input on ``cpu`` or ``cuda:N``; none meaning all."""
        return (self.cuda_dtypes if device.startswith("cuda") else ()) or self.dtypes

    def takes(self, dtype: str, device: str) -> bool:
        """Whether its first input may be of that type there."""
        return dtype in (self.dtypes_on(device) or (dtype,))

    @property
    def line_id(self) -> str:
        """The id of its implementation line."""
        return self.line or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation as its folder describes it.

    ``tolerances`` are by the first input's dtype, then by output or ``grad_<input>``;
    ``trusted`` names, by device (``cuda``, ``cpu``), the candidate whose error is the
    denominator of the error ratio.
    """

    format_version: int
    slug: str
    title: str
    axes: tuple[str, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    tolerances: Mapping[str, Mapping[str, ToleranceSpec]]
    derived_axes: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)
    rows: RowRule | None = None
    draws: Mapping[str, Draw] = field(default_factory=dict)
    distributions: tuple[str, ...] = ("own",)
    default_dtypes: Mapping[str, str] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    trusted: Mapping[str, str] = field(default_factory=dict)
    candidates: tuple[CandidateSpec, ...] = ()

    def __post_init__(self) -> None:
        _need(self.format_version == FORMAT_VERSION, f"formatVersion {FORMAT_VERSION}")
        _need(bool(self.inputs and self.outputs), "at least one input and one output")
        _check_tensors(self)
        _check_names(self)

    def input(self, name: str) -> TensorSpec:
        """The input called ``name``. Raises ``NotFoundError``."""
        return _named(self, self.inputs, name, "input")

    def output(self, name: str) -> TensorSpec:
        """The output called ``name``. Raises ``NotFoundError``."""
        return _named(self, self.outputs, name, "output")

    def candidate(self, identifier: str) -> CandidateSpec:
        """The candidate of that id. Raises ``NotFoundError``."""
        for candidate in self.candidates:
            if candidate.id == identifier:
                return candidate
        known = ", ".join(candidate.id for candidate in self.candidates)
        raise NotFoundError(f"{self.slug} has no candidate {identifier!r}; it has: {known}")

    @property
    def gradients(self) -> tuple[str, ...]:
        """``grad_<input>`` of every differentiable input, in input order."""
        return tuple(f"grad_{spec.name}" for spec in self.inputs if spec.differentiable)

    def tolerances_for(self, dtypes: Mapping[str, str]) -> Mapping[str, ToleranceSpec]:
        """Bounds by name, for the dtype of the first input. Raises ``NotFoundError``."""
        first = dtypes[self.inputs[0].name]
        if first not in self.tolerances:
            known = ", ".join(self.tolerances)
            raise NotFoundError(f"{self.slug} has no tolerance for {first}; it has: {known}")
        return self.tolerances[first]


def _named(operation: Operation, specs: tuple[TensorSpec, ...], name: str, kind: str) -> TensorSpec:
    for spec in specs:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in specs)
    raise NotFoundError(f"{operation.slug} has no {kind} {name!r}; it has: {known}")


def _check_tensors(operation: Operation) -> None:
    """Refuse tensors called alike, dtypes like no tensor, shapes over no axis."""
    specs = (*operation.inputs, *operation.outputs)
    names = [spec.name for spec in specs]
    axes = {*operation.axes, *operation.derived_axes}
    _need(len(set(names)) == len(names), "every tensor's name once")
    for spec in specs:
        like = spec.dtype.startswith("like:")
        _need(not like or spec.dtype[5:] in names, f"a tensor's name in {spec.name}'s {spec.dtype}")
        for size in spec.shape:
            _need(axis_names(size) <= axes, f"axes of the operation in {spec.name}'s {size!r}")


def _check_names(operation: Operation) -> None:
    """Refuse tolerances, trusted candidates and draws of things that the operation lacks."""
    judged = {*(spec.name for spec in operation.outputs), *operation.gradients}
    for dtype, names in operation.tolerances.items():
        wanted = f"tolerances.{dtype} for exactly {', '.join(sorted(judged))}"
        _need(set(names) == judged, wanted)
    candidates = {candidate.id for candidate in operation.candidates}
    for device, identifier in operation.trusted.items():
        _need(identifier in candidates, f"a candidate's id in trusted.{device}")
    for name, draw in operation.draws.items():
        _need_among(name, DRAWS, "draws")
        _need(set(draw.axes) <= set(operation.axes), f"axes of the operation in draws.{name}")
    if operation.rows is not None:
        _need(operation.rows.axis in operation.axes, "rows.axis among the axes")


def module_name(slug: str) -> str:
    """The package that holds an operation's code: its slug with ``_`` for ``-``."""
    return f"kernelindex.runner.operations.{slug.replace('-', '_')}"


def folder_of(slug: str) -> Path:
    """The folder of an operation.

    Raises ``NotFoundError`` with those there are: one without candidates is a study's own.
    """
    folder = _HERE / slug.replace("-", "_")
    if "/" in slug or not (folder / "operation.json").is_file():
        known = ", ".join(one for one in slugs() if load_operation(one).candidates)
        raise NotFoundError(f"no operation {slug!r} can be run; there are: {known}")
    return folder


def slugs() -> tuple[str, ...]:
    """Every operation that has a folder here."""
    return tuple(sorted(p.parent.name.replace("_", "-") for p in _HERE.glob("*/operation.json")))


@lru_cache(maxsize=64)
def load_operation(slug: str) -> Operation:
    """The operation called ``slug``. Raises ``NotFoundError`` or ``RegistryError``."""
    operation = parse_operation((folder_of(slug) / "operation.json").read_bytes())
    if operation.slug != slug:
        raise RegistryError(f"operation.json of {slug} names another slug, {operation.slug!r}")
    return operation


def parse_operation(text: str | bytes) -> Operation:
    """The operation that JSON describes. Raises ``RegistryError`` (``operation.invalid``)."""
    try:
        return from_json(Operation, json.loads(text, object_pairs_hook=_without_repeats))
    except ShapeError as error:
        where = f"operation.json: {error}"
        raise RegistryError(where, code="operation.invalid", path=error.path) from None
    except ValueError as error:
        raise RegistryError(f"operation.json: {error}", code="operation.invalid") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ShapeError(repeated[0], "the key twice", "every key once")
    return dict(pairs)
