"""A question as fields of a form, and a form's fields as a question again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.registry.operations import find_operation
from kernelindex.resolve.query import to_query
from kernelindex.web.context import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernelindex.resolve import Request

PASSES = ("", "forward", "backward", "full", "inference")
LEVELS = ("reported", "reproducible", "verified", "replicated")
AXIS = "axis."
FIELDS = frozenset({"q", "op", "dtype", "gpu", "pass", "evidence", "rest"})
MOST_FIELDS = 48
MOST_OPEN_AXES = 8


@dataclass(frozen=True, slots=True)
class AxisField:
    """One axis of the question."""

    name: str = field(metadata=told("name of the axis"))
    value: str = field(metadata=told("the size asked for; empty where it is left open"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The parts of a question that a reader can edit."""

    operation: str = field(metadata=told("operation as asked"))
    axes: tuple[AxisField, ...] = field(metadata=told("axes asked for, then the others it has"))
    dtypes: str = field(metadata=told("dtypes, separated by blanks"))
    hardware: str = field(metadata=told("GPU or family"))
    timed_pass: str = field(metadata=told("pass; empty where it is left open"))
    evidence: str = field(metadata=told("least evidence level"))
    rest: str = field(metadata=told("filters that have no field of their own, as typed"))


def tokens(request: Request, axes: Iterable[str] = ()) -> Tokens:
    """The fields of a question; ``axes`` are those that measured shapes have."""
    bare: dict[str, Any] = {
        "operation": None,
        "axes": {},
        "dtypes": (),
        "hardware": None,
        "timed_pass": None,
    }
    policy = request.policy.model_copy(update={"minimum_evidence": "reported"})
    return Tokens(
        operation=request.operation or "",
        axes=_axes(request, axes),
        dtypes=" ".join(request.dtypes),
        hardware=request.hardware or "",
        timed_pass=request.timed_pass or "",
        evidence=request.policy.minimum_evidence,
        rest=to_query(request, **bare, policy=policy),
    )


def is_field(name: str) -> bool:
    """Whether the form of a question has a field of this name; the box is ``q``."""
    return name in FIELDS or name.startswith(AXIS)


def question(fields: Mapping[str, str]) -> str:
    """The text query that the fields of a form ask; empty where nothing is filled in."""
    filled = {name: value.strip() for name, value in fields.items() if value.strip()}
    axes = [f"{name[len(AXIS) :]}={filled[name]}" for name in filled if name.startswith(AXIS)]
    parts = [filled.get("op", ""), *axes, filled.get("dtype", "")]
    parts += [f"{name}:{filled[name]}" for name in ("gpu", "pass") if name in filled]
    if filled.get("evidence", "reported") != "reported":
        parts.append(f"evidence:{filled['evidence']}")
    parts.append(filled.get("rest", ""))
    return " ".join(part for part in parts if part)


def _axes(request: Request, known: Iterable[str]) -> tuple[AxisField, ...]:
    asked = [AxisField(name, str(value)) for name, value in request.axes.items()]
    operation = find_operation(request.operation).operation if request.operation else None
    aliases = {
        axis.name: {axis.name, *axis.aliases} for axis in (operation.axes if operation else ())
    }
    given = {name.casefold() for name in request.axes}
    free = [
        AxisField(name, "")
        for name in known
        if not given & {one.casefold() for one in aliases.get(name, {name})}
    ]
    return (*asked, *free[:MOST_OPEN_AXES])
