"""What kernels compute, under our own names: axes, tensors, passes and words people use.

Data: ``registry/operations/*.json``, each ``{"operations": [...]}``. Shapes and costs are
expressions over axis names (ints, + - * % //, parentheses).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from kernelindex.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "PASSES",
    "AxisInfo",
    "BytesTerm",
    "CostModel",
    "Operation",
    "OperationMatch",
    "TensorInfo",
    "find_operation",
    "load_operations",
    "operations_of_family",
]

PASSES = ("forward", "backward", "full", "inference")
_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisInfo:
    """One axis; a derived one carries its ``expression``, a bounded one ``least_of`` several.

    ``surely`` is what a bounded one is at least, whatever the data.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    expression: str | None = None
    least_of: tuple[str, ...] = ()
    surely: str | None = None

    @property
    def derived(self) -> bool:
        """Whether its value follows from other axes."""
        return self.expression is not None or bool(self.least_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorInfo:
    """One tensor (or scalar: empty ``shape``).

    ``dtype`` is a rule: ``float`` (the workload says which), ``like:<tensor>``, or a dtype id.
    ``role`` is ``static`` for weights, ``per_call`` for what changes with every call.
    """

    name: str
    shape: tuple[str | int, ...]
    dtype: str
    role: Literal["static", "per_call"]
    gradient: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesTerm:
    """``elements`` (an expression) counted at the element size of tensor ``like``."""

    elements: str
    like: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """Work of one pass; ``bytes`` None means every tensor of the pass once."""

    flops: str | None
    bytes: tuple[BytesTerm, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation; ``costs`` is by pass (an inference pass costs what forward does)."""

    slug: str
    family: str
    title: str
    aliases: tuple[str, ...]
    axes: tuple[AxisInfo, ...]
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    passes: tuple[str, ...]
    expression: str
    costs: Mapping[str, CostModel]
    source: str

    def axis(self, text: str) -> AxisInfo | None:
        """The axis called ``text``: its name, else an alias of that case, else of any case."""
        named = {axis.name: axis for axis in self.axes}
        exact = {alias: axis for axis in self.axes for alias in axis.aliases}
        loose = {name.lower(): axis for name, axis in {**exact, **named}.items()}
        return named.get(text) or exact.get(text) or loose.get(text.lower())

    def tensor(self, name: str) -> TensorInfo | None:
        """The input or output of that name."""
        return next((t for t in (*self.inputs, *self.outputs) if t.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationMatch:
    """What a word names: one operation, or the nearest slugs."""

    operation: Operation | None
    suggestions: tuple[str, ...] = ()


@cache
def load_operations() -> Mapping[str, Operation]:
    """Every operation by slug.

    Raises RegistryError ``registry.inconsistent`` where two share a slug or an alias.
    """
    operations = {operation.slug: operation for operation in _read_all()}
    _check_names(operations)
    return operations


@cache
def _names() -> Mapping[str, str]:
    table = {slug: slug for slug in load_operations()}
    for operation in load_operations().values():
        table.update({_plain(alias): operation.slug for alias in operation.aliases})
    return table


def named_operation(text: str) -> Operation | None:
    """The operation of this slug or alias (case, blanks, ``_`` and ``-`` alike), never a guess."""
    slug = _names().get(_plain(text))
    return None if slug is None else load_operations()[slug]


def find_operation(text: str) -> OperationMatch:
    """``named_operation``, and where there is none the names that look like it (0.5 ms)."""
    named = named_operation(text)
    if named is not None:
        return OperationMatch(operation=named)
    plain = _plain(text)
    near = get_close_matches(plain, _names(), n=_SUGGESTIONS * 2, cutoff=0.7)
    parts = [name for name in sorted(_names()) if len(plain) > 2 and plain in name.split("-")]
    slugs = dict.fromkeys(_names()[name] for name in [*near, *parts])
    return OperationMatch(operation=None, suggestions=tuple(slugs)[:_SUGGESTIONS])


def operations_of_family(family: str) -> tuple[Operation, ...]:
    """All operations of a family, by slug."""
    found = (op for op in load_operations().values() if op.family == family)
    return tuple(sorted(found, key=lambda op: op.slug))


def __getattr__(name: str) -> Mapping[str, Operation]:
    if name == "OPERATIONS":
        return load_operations()
    raise AttributeError(name)


def _plain(text: str) -> str:
    return "-".join(text.lower().replace("_", " ").replace("-", " ").split())


def _read_all() -> Iterator[Operation]:
    folder = files("kernelindex.registry").joinpath("operations")
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".json"):
            for document in json.loads(entry.read_bytes())["operations"]:
                yield _read_operation(document, entry.name)


def _read_operation(data: Mapping[str, Any], where: str) -> Operation:
    try:
        return Operation(
            slug=data["slug"],
            family=data["family"],
            title=data["title"],
            aliases=tuple(data.get("aliases", ())),
            axes=tuple(_read_axis(axis) for axis in data["axes"]),
            inputs=tuple(_read_tensor(tensor) for tensor in data["inputs"]),
            outputs=tuple(_read_tensor(tensor) for tensor in data["outputs"]),
            passes=tuple(data.get("passes", PASSES)),
            expression=data["expression"],
            costs={name: _read_cost(cost) for name, cost in data.get("costs", {}).items()},
            source=data["source"],
        )
    except (KeyError, TypeError) as problem:
        raise RegistryError(
            f"registry/operations/{where}: operation {data.get('slug')!r} lacks {problem}",
            file=where,
        ) from problem


def _read_axis(data: Mapping[str, Any]) -> AxisInfo:
    return AxisInfo(
        name=data["name"],
        title=data.get("title", data["name"].replace("_", " ")),
        aliases=tuple(data.get("aliases", ())),
        expression=data.get("expression"),
        least_of=tuple(data.get("least_of", ())),
        surely=data.get("surely"),
    )


def _read_tensor(data: Mapping[str, Any]) -> TensorInfo:
    return TensorInfo(
        name=data["name"],
        shape=tuple(data["shape"]),
        dtype=data.get("dtype", "float"),
        role="static" if data.get("role") == "static" else "per_call",
        gradient=bool(data.get("gradient", False)),
    )


def _read_cost(data: Mapping[str, Any]) -> CostModel:
    terms = data.get("bytes")
    return CostModel(
        flops=data.get("flops"),
        bytes=None if terms is None else tuple(BytesTerm(**term) for term in terms),
    )


def _check_names(operations: Mapping[str, Operation]) -> None:
    seen: dict[str, str] = {}
    for operation in operations.values():
        for name in {operation.slug, *map(_plain, operation.aliases)}:
            if seen.setdefault(name, operation.slug) != operation.slug:
                raise RegistryError(
                    f"operations {seen[name]} and {operation.slug} both answer to {name!r}",
                    name=name,
                )
