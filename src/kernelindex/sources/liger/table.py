"""What each upstream benchmark script did, reviewed by hand: ``table/*.json``.

One file a kernel. Axes are expressions over the row's config keys and swept axis, in lower
case. Every entry cites the script (path, commit, lines); a dtype that rows do not state is
bound there or the row is skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Entry",
    "ExtraWork",
    "Harness",
    "LineRow",
    "Provider",
    "Script",
    "harnesses",
    "load_lines",
    "load_table",
    "projects",
    "releases",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Where an entry rests: a file of linkedin/Liger-Kernel and lines in it.

    ``revision`` is a commit, or a release tag where its commit is not known to us.
    """

    path: str
    revision: str
    lines: str
    note: str = ""

    @property
    def url(self) -> str:
        """The file at that revision."""
        first = self.lines.split("-")[0]
        return f"https://github.com/linkedin/Liger-Kernel/blob/{self.revision}/{self.path}#L{first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraWork:
    """Work of the script itself inside the timed region of ``modes``.

    ``elements`` (an expression over our axes) at the size of tensor ``like`` are moved.
    """

    modes: tuple[str, ...]
    elements: str
    like: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """What a provider label ran, with doubts that it alone has."""

    line: str
    doubts: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The pass that a mode timed and what its timed region includes besides."""

    timed_pass: str
    includes: tuple[str, ...] | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One kernel's rows of one form: which rows, and what they mean.

    ``config`` says of every key that the row has what it is (axis, flag, dtype, scalar,
    ignore with the reason) or which values are described (a list). ``versions`` are the
    releases the entry holds for; none given, all.
    """

    id: str
    kernel: str
    operation: str
    x_names: tuple[str, ...]
    config: Mapping[str, str | list[Any]]
    axes: Mapping[str, str]
    bound_dtype: str | None
    versions: tuple[str, ...]
    tensor_dtypes: Mapping[str, str]
    generators: Mapping[str, Mapping[str, Any]]
    routing: Mapping[str, Any] | None
    harness: str
    gradients: str | None
    modes: Mapping[str, Mode]
    providers: Mapping[str, Provider]
    unknown_providers: Mapping[str, str]
    extra: tuple[ExtraWork, ...]
    script: Script


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow:
    """An implementation line and where its code is.

    ``versioned`` lines have the row's ``liger_version`` as revision; ``releases`` are the
    published packages that contain the symbol: a source tree reports the version before it.
    """

    id: str
    title: str
    project: str
    entry_point: str
    repository: str | None
    path: str | None
    symbol: str
    language: str
    versioned: bool
    licence: str
    restates: str | None
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How a script measured: the fields of a protocol, for time and for memory.

    ``rep_ms`` is what do_bench was asked to repeat for; None for another timing loop.
    """

    id: str
    rep_ms: int | None
    speed: Mapping[str, Any]
    memory: Mapping[str, Any]
    cache: Mapping[str, Any] | None
    notes: str


@cache
def load_table() -> Mapping[str, tuple[Entry, ...]]:
    """Entries by kernel name, in the order in which they are tried."""
    folder = files("kernelindex.sources.liger").joinpath("table")
    table: dict[str, tuple[Entry, ...]] = {}
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".json"):
            document = json.loads(item.read_bytes())
            table[document["kernel"]] = tuple(
                _read_entry(document["kernel"], entry) for entry in document["entries"]
            )
    return table


@cache
def load_lines() -> Mapping[str, LineRow]:
    """Implementation lines by id."""
    rows = _data("lines.json")["lines"]
    defaults: dict[str, Any] = {"restates": None, "path": None}
    return {
        row["id"]: LineRow(**{**defaults, **row, "releases": tuple(row.get("releases", ()))})
        for row in rows
    }


@cache
def harnesses() -> Mapping[str, Harness]:
    """Harnesses by id."""
    return {
        row["id"]: Harness(**{"cache": None, **row}) for row in _data("harness.json")["harnesses"]
    }


def releases() -> Mapping[str, Any]:
    """What Liger's releases have in common: tested architectures, reviewed licences."""
    found: Mapping[str, Any] = _data("releases.json")
    return found


def projects() -> Mapping[str, Mapping[str, Any]]:
    """The projects of the lines, by slug, as specs of SoftwareProject."""
    found: Mapping[str, Mapping[str, Any]] = _data("lines.json")["projects"]
    return found


@cache
def _data(name: str) -> Any:
    return json.loads(files("kernelindex.sources.liger").joinpath("data", name).read_bytes())


def _read_entry(kernel: str, data: Mapping[str, Any]) -> Entry:
    return Entry(
        id=data["id"],
        kernel=kernel,
        operation=data["operation"],
        x_names=tuple(data["x"]),
        config=data["config"],
        axes=data["axes"],
        bound_dtype=data.get("bound_dtype"),
        versions=tuple(data.get("versions", ())),
        tensor_dtypes=data.get("tensor_dtypes", {}),
        generators=data.get("generators", {}),
        routing=data.get("routing"),
        harness=data["harness"],
        gradients=data.get("gradients"),
        modes={name: _read_mode(mode) for name, mode in data["modes"].items()},
        providers={
            name: Provider(line=row["line"], doubts=tuple(row.get("doubts", ())))
            for name, row in data["providers"].items()
        },
        unknown_providers=data.get("unknown_providers", {}),
        extra=tuple(
            ExtraWork(**{**row, "modes": tuple(row["modes"])}) for row in data.get("extra", ())
        ),
        script=Script(**data["script"]),
    )


def _read_mode(data: Mapping[str, Any]) -> Mode:
    includes = data.get("includes")
    return Mode(
        timed_pass=data["pass"],
        includes=None if includes is None else tuple(includes),
        note=data.get("note", ""),
    )
