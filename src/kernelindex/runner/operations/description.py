"""What ``operation.json`` says of an operation: tensors, draws, tolerances, shapes, candidates.

The file is read by the worker on a bare machine and by the index when it plans, so this module
needs the standard library only. ``docs/guides/adding-an-operation.md`` explains each field.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelindex.errors import NotFoundError
from kernelindex.runner.operations.reading import Fields, read_object, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DRAWS",
    "PASSES",
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
PASSES = ("inference", "forward", "backward", "full")
FORMAT_VERSION = 1

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """An input or output: ``dtype`` is ``free`` (the case says), ``like:<tensor>``, or a name.

    ``group`` is what the worst row is looked for in: ``row`` (all axes but the last), ``leading``
    (the first axis: experts), ``whole`` (none).
    """

    name: str
    shape: tuple[str | int, ...]
    dtype: str
    role: str
    differentiable: bool
    group: str


@dataclass(frozen=True, slots=True)
class Draw:
    """How a draw's case differs from the point's: axes by expression, generator parameters."""

    name: str
    axes: Mapping[str, str]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToleranceSpec:
    """Bounds for one output or gradient; 0 means that this bound is not asked.

    ``frobenius`` and ``worst_row`` are relative to the reference's norm, ``max_rel`` is
    max |a - b| / (|b| + rms b), ``error_ratio`` is to the trusted implementation's error, and
    ``row_floor`` is the share of the typical row's norm below which a row counts as that large.
    """

    frobenius: float
    worst_row: float = 0.0
    max_rel: float = 0.0
    max_abs: float = 0.0
    error_ratio: float = 2.0
    row_floor: float = 1e-4
    nan: str = "reject"


@dataclass(frozen=True, slots=True)
class Published:
    """A shape that a public source measured."""

    axes: Mapping[str, int]
    dtypes: Mapping[str, str]
    source: str


@dataclass(frozen=True, slots=True)
class RowRule:
    """Rows along ``axis`` are independent, so the reference may be computed in slices of them.

    ``reduce`` names outputs that are a ``mean`` or ``sum`` over the rows; other outputs have
    the axis first.
    """

    axis: str
    reduce: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """An implementation that the registry offers; ``line`` is its implementation line's id."""

    id: str
    line: str
    title: str
    project: str
    entry: str
    interface: str
    passes: tuple[str, ...]
    packages: tuple[str, ...]
    licence: str
    licence_state: str
    repository: str
    path: str
    dtypes: tuple[str, ...]
    devices: tuple[str, ...]
    min_arch: str
    prepare: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as its folder describes it."""

    slug: str
    title: str
    axes: tuple[str, ...]
    derived_axes: Mapping[str, str]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    scalars: Mapping[str, float | int]
    rows: RowRule | None
    draws: Mapping[str, Draw]
    distributions: tuple[str, ...]
    tolerances: Mapping[str, Mapping[str, ToleranceSpec]]
    default_dtypes: Mapping[str, str]
    published: tuple[Published, ...]
    trusted: Mapping[str, str]
    candidates: tuple[CandidateSpec, ...]

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


def module_name(slug: str) -> str:
    """The package that holds an operation's code: its slug with ``_`` for ``-``."""
    return f"kernelindex.runner.operations.{slug.replace('-', '_')}"


def folder_of(slug: str) -> Path:
    """The folder of an operation. Raises ``NotFoundError``."""
    folder = _HERE / slug.replace("-", "_")
    if "/" in slug or not (folder / "operation.json").is_file():
        raise NotFoundError(f"no operation {slug!r} can be run; there are: {', '.join(slugs())}")
    return folder


def slugs() -> tuple[str, ...]:
    """Every operation that has a folder here."""
    return tuple(sorted(p.parent.name.replace("_", "-") for p in _HERE.glob("*/operation.json")))


@lru_cache(maxsize=64)
def load_operation(slug: str) -> Operation:
    """The operation called ``slug``. Raises ``NotFoundError`` or ``RegistryError``."""
    operation = parse_operation(read_object(folder_of(slug) / "operation.json"))
    if operation.slug != slug:
        refuse("operation.slug", operation.slug, f"{slug!r}, as its folder is named")
    return operation


def parse_operation(value: object) -> Operation:
    """The operation that a JSON object describes. Raises ``RegistryError``."""
    fields = Fields(value, "operation")
    if (version := fields.number("formatVersion")) != FORMAT_VERSION:
        refuse("operation.formatVersion", version, str(FORMAT_VERSION))
    operation = Operation(
        slug=fields.text("slug"),
        title=fields.text("title"),
        axes=fields.texts("axes"),
        derived_axes=fields.strings("derivedAxes"),
        inputs=tuple(_tensor(item, is_input=True) for item in fields.objects("inputs")),
        outputs=tuple(_tensor(item, is_input=False) for item in fields.objects("outputs")),
        scalars=_scalars(fields),
        rows=_rows(fields),
        draws=_draws(fields),
        distributions=fields.texts("distributions", ("own",)),
        tolerances=_tolerances(fields),
        default_dtypes=fields.strings("defaultDtypes"),
        published=tuple(_published(item) for item in fields.objects("published")),
        trusted=fields.strings("trusted"),
        candidates=tuple(_candidate(item) for item in fields.objects("candidates")),
    )
    fields.done()
    _check(operation)
    return operation


def _tensor(fields: Fields, *, is_input: bool) -> TensorSpec:
    role = fields.text("role", "per_call", ("per_call", "static")) if is_input else "per_call"
    shape = fields.shape("shape")
    usual = "whole" if len(shape) < 2 else "leading" if role == "static" else "row"
    made = TensorSpec(
        name=fields.text("name"),
        shape=shape,
        dtype=fields.text("dtype", "free"),
        role=role,
        differentiable=fields.flag("differentiable", False) if is_input else True,
        group=fields.text("group", usual, ("row", "leading", "whole")),
    )
    fields.done()
    return made


def _scalars(fields: Fields) -> dict[str, float | int]:
    scalars = fields.mapping("scalars")
    for name, value in scalars.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            refuse(f"operation.scalars.{name}", value, "a number")
    return scalars


def _rows(fields: Fields) -> RowRule | None:
    value = fields.mapping("rows")
    if not value:
        return None
    inner = Fields(value, "operation.rows")
    made = RowRule(inner.text("axis"), inner.strings("reduce"))
    inner.done()
    return made


def _draws(fields: Fields) -> dict[str, Draw]:
    made: dict[str, Draw] = {}
    for name, value in fields.mapping("draws").items():
        if name not in DRAWS:
            refuse(f"operation.draws.{name}", name, f"one of {', '.join(DRAWS)}")
        inner = Fields(value, f"operation.draws.{name}")
        made[name] = Draw(name, inner.strings("axes"), inner.mapping("parameters"))
        inner.done()
    return made


def _tolerances(fields: Fields) -> dict[str, dict[str, ToleranceSpec]]:
    made: dict[str, dict[str, ToleranceSpec]] = {}
    for dtype, names in fields.mappings("tolerances").items():
        where = f"operation.tolerances.{dtype}"
        made[dtype] = {name: tolerance(value, f"{where}.{name}") for name, value in names.items()}
    return made


def tolerance(value: object, where: str) -> ToleranceSpec:
    """One tolerance from its JSON object, as an operation or a plan writes it."""
    fields = Fields(value, where)
    made = ToleranceSpec(
        frobenius=fields.number("frobenius"),
        worst_row=fields.number("worstRow", 0.0),
        max_rel=fields.number("maxRel", 0.0),
        max_abs=fields.number("maxAbs", 0.0),
        error_ratio=fields.number("errorRatio", 2.0),
        row_floor=fields.number("rowFloor", 1e-4),
        nan=fields.text("nan", "reject", ("reject", "match")),
    )
    fields.done()
    return made


def _published(fields: Fields) -> Published:
    made = Published(fields.integers("axes"), fields.strings("dtypes"), fields.text("source"))
    fields.done()
    return made


def _candidate(fields: Fields) -> CandidateSpec:
    identifier = fields.text("id")
    made = CandidateSpec(
        id=identifier,
        line=fields.text("line", identifier),
        title=fields.text("title"),
        project=fields.text("project"),
        entry=fields.text("entry"),
        interface=fields.text("interface", "torch", ("torch", "numpy")),
        passes=fields.texts("passes", PASSES),
        packages=fields.texts("packages", ()),
        licence=fields.text("licence", ""),
        licence_state=fields.text("licenceState", "declared", ("declared", "concluded", "unknown")),
        repository=fields.text("repository", ""),
        path=fields.text("path", ""),
        dtypes=fields.texts("dtypes", ()),
        devices=fields.texts("devices", ("cuda", "cpu")),
        min_arch=fields.text("minArch", ""),
        prepare=fields.text("prepare", ""),
    )
    fields.done()
    return made


def _check(operation: Operation) -> None:
    """Refuse names that nothing bears: tolerances, trusted candidates, dtypes, draws' axes."""
    tensors = {spec.name for spec in (*operation.inputs, *operation.outputs)}
    judged = {*(spec.name for spec in operation.outputs), *operation.gradients}
    candidates = {candidate.id for candidate in operation.candidates}
    if not operation.inputs or not operation.outputs:
        refuse("operation", None, "at least one input and one output")
    for dtype, names in operation.tolerances.items():
        if set(names) != judged:
            wanted = ", ".join(sorted(judged))
            refuse(f"operation.tolerances.{dtype}", sorted(names), f"exactly {wanted}")
    for device, identifier in operation.trusted.items():
        if identifier not in candidates:
            refuse(f"operation.trusted.{device}", identifier, "a candidate's id")
    for spec in (*operation.inputs, *operation.outputs):
        if spec.dtype.startswith("like:") and spec.dtype.removeprefix("like:") not in tensors:
            refuse(f"operation.{spec.name}.dtype", spec.dtype, "like: and a tensor's name")
    for draw in operation.draws.values():
        if unknown := set(draw.axes) - set(operation.axes):
            refuse(f"operation.draws.{draw.name}.axes", sorted(unknown), "axes of the operation")
    for candidate in operation.candidates:
        if unknown := set(candidate.passes) - set(PASSES):
            refuse(f"operation.candidates.{candidate.id}.passes", sorted(unknown), "known passes")
