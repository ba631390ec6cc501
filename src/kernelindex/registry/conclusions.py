"""Licences that somebody concluded for a project's revision, with what it needs at run time.

``data/concluded_licences.json`` has three lists. ``packages``: each package once, with its own
licence, the file it was read from and what it requires. ``platform``: what is the same for
every candidate on a vendor's GPU, and so is named but not part of an expression.
``conclusions``: a project's revisions, its own licence, what it requires, and the expression
of all of it, which has to be exactly what the parts add up to.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from kernelindex.errors import CanonicalError, RegistryError
from kernelindex.manifests import canonical
from kernelindex.registry.licences import resolve_licence
from kernelindex.registry.resources import read_data
from kernelindex.registry.spdx import join_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE = "concluded_licences.json"


def _spdx(text: str) -> str:
    if resolve_licence(text).expression != text:
        raise ValueError("a canonical SPDX expression is wanted")
    return text


def _words(text: str) -> str:
    if not text or text != text.strip() or not text.isprintable() or text.endswith("."):
        raise ValueError("words on one line without a full stop at the end are wanted")
    return text


Spdx = Annotated[str, AfterValidator(_spdx)]
Words = Annotated[str, AfterValidator(_words)]
Day = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Evidence(_Strict):
    """The file a licence was read from: in a wheel, or where none is named in the repository."""

    path: Words
    digest: Digest
    wheel: Words | None = None


class Package(_Strict):
    """A package that candidates need, at the version that was looked at."""

    name: Words
    version: Words
    licence: Spdx
    evidence: Evidence
    requires: list[Words]
    note: Words | None = None


class _Platform(_Strict):
    name: Words
    why: Words


class _Entry(_Strict):
    project: Words
    repository: Annotated[str, Field(pattern=r"^https://\S+$")]
    revisions: Annotated[dict[Words, Words], Field(min_length=1)]
    licence: Spdx
    requires: list[Words]
    expression: Spdx
    by: Words
    date: Day
    evidence: Evidence
    note: Words | None = None


class _File(_Strict):
    platform: list[_Platform]
    packages: list[Package]
    conclusions: list[_Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What is concluded for the revisions of a project.

    ``revisions``     version, commit, or digest of tree or source -> what that is
    ``licence``       its own; ``expression`` with all of ``dependencies``
    ``dependencies``  every package it needs at run time, those of its dependencies included
    ``platform``      what it needs that counts as the platform
    """

    project: str
    repository: str
    revisions: Mapping[str, str]
    licence: str
    expression: str
    dependencies: tuple[Package, ...]
    platform: tuple[str, ...]
    by: str
    date: str
    evidence: Evidence
    note: str | None


def find_conclusion(implementation: Mapping[str, Any]) -> Conclusion | None:
    """The conclusion for the ``spec`` of an ImplementationRevision.

    Its repository has to be the conclusion's, and its commit, version or the digest of its tree
    or source one of the revisions; of any other revision nothing is concluded.
    """
    revision = implementation["projectRevision"]
    names = [revision.get(key) for key in ("commit", "treeDigest", "version")]
    names.append(implementation.get("source", {}).get("contentDigest"))
    found = (_by_revision().get((revision.get("repository"), name)) for name in names if name)
    return next((one for one in found if one is not None), None)


@cache
def load_conclusions() -> tuple[Conclusion, ...]:
    """Every conclusion of this distribution, in the order of the file.

    Raises RegistryError ``registry.unreadable``, ``registry.conclusion``.
    """
    return parse_conclusions(read_data(FILE))


def parse_conclusions(data: bytes) -> tuple[Conclusion, ...]:
    """The conclusions of a file's bytes.

    Raises RegistryError ``registry.conclusion`` with the place, what was seen and wanted.
    """
    try:
        document = canonical.loads(data)
        file = _File.model_validate(document)
    except CanonicalError as problem:
        _refuse("the file", problem.message, "strict JSON")
    except ValidationError as problem:
        first = problem.errors()[0]
        _refuse(_place(document, first["loc"]), repr(first["input"])[:80], first["msg"])
    packages = {one.name: one for one in file.packages}
    platform = [one.name for one in file.platform]
    _refuse_repeats([*(one.name for one in file.packages), *platform], "packages")
    named = [f"{one.repository} {name}" for one in file.conclusions for name in one.revisions]
    _refuse_repeats(named, "conclusions")
    return tuple(_conclude(entry, packages, set(platform)) for entry in file.conclusions)


@cache
def _by_revision() -> dict[tuple[str, str], Conclusion]:
    return {(one.repository, name): one for one in load_conclusions() for name in one.revisions}


def _conclude(entry: _Entry, packages: Mapping[str, Package], platform: set[str]) -> Conclusion:
    needed = _closure(entry, packages, platform)
    dependencies = tuple(packages[name] for name in needed if name in packages)
    expression = join_parts(entry.licence, (one.licence for one in dependencies))
    if expression != entry.expression:
        where = f"conclusions, {entry.project}, expression"
        _refuse(where, entry.expression, f"what its parts add up to, {expression}")
    return Conclusion(
        project=entry.project,
        repository=entry.repository,
        revisions=entry.revisions,
        licence=entry.licence,
        expression=expression,
        dependencies=dependencies,
        platform=tuple(name for name in needed if name in platform),
        by=entry.by,
        date=entry.date,
        evidence=entry.evidence,
        note=entry.note,
    )


def _closure(entry: _Entry, packages: Mapping[str, Package], platform: set[str]) -> list[str]:
    """Everything the entry needs, in alphabetic order."""
    found: set[str] = set()
    waiting = [(name, entry.project) for name in entry.requires]
    while waiting:
        name, asked_by = waiting.pop()
        if name not in packages and name not in platform:
            wanted = "a name under packages or platform"
            _refuse(f"requires of {asked_by}", repr(name), wanted)
        if name not in found:
            found.add(name)
            further = packages[name].requires if name in packages else ()
            waiting += [(one, name) for one in further]
    return sorted(found)


def _refuse_repeats(names: Iterable[str], where: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            _refuse(where, f"{name} {count} times", "each once")


def _place(document: Any, loc: tuple[int | str, ...]) -> str:
    """Where a problem lies; members of lists by name where they have one."""
    words = []
    for step in loc:
        is_member = isinstance(document, dict | list) and step != "[key]"
        document = _member(document, step) if is_member else None
        named = document if isinstance(step, int) and isinstance(document, dict) else {}
        words.append(str(named.get("name") or named.get("project") or step))
    return ", ".join(words) or "the file"


def _member(document: Any, step: int | str) -> Any:
    try:
        return document[step]
    except (KeyError, IndexError, TypeError):
        return None


def _refuse(where: str, seen: str, wanted: str) -> NoReturn:
    raise RegistryError(
        f"registry data {FILE}, {where}: seen {seen}, wanted {wanted}",
        code="registry.conclusion",
        file=FILE,
    )
