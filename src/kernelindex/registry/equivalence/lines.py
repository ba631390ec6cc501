"""Implementation lines: (project, entry point) with the revision aside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.registry.equivalence.data import load_files
from kernelindex.registry.equivalence.operations import upstream_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LineInfo", "map_line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineInfo:
    """One line; ``restates`` names the public code that a harness's own copy stands in for."""

    id: str
    title: str
    project: str
    entry_point: str
    restates: str | None = None


def map_line(
    source: str, document: Mapping[str, Any], *, project: str | None = None
) -> LineInfo | None:
    """The line of an ImplementationRevision that ``source`` measured, or None.

    A listed implementation (by ``metadata.name``) wins; else the source's rule needs the
    project that the implementation is linked to and an operation that was reviewed.
    """
    listed = _listed().get((source, document["metadata"]["name"]))
    if listed is not None:
        return listed
    rule = _rules().get(source)
    operation = upstream_name(document["spec"]["operation"]["specDigest"])
    if rule is None or operation is None or project is None:
        return None
    return _by_rule(rule, document["metadata"], operation, project)


def _by_rule(rule: str, metadata: Mapping[str, Any], operation: str, project: str) -> LineInfo:
    authors = metadata.get("authors") or [{}]
    if rule == "operation":
        entry_point = operation
        title = f"{authors[0].get('name') or project} · {operation}"
    else:
        solution = metadata.get("title") or metadata["name"]
        entry_point = f"{operation}/{solution}"
        title = solution
    return LineInfo(
        id=f"{project}/{entry_point}", title=title, project=project, entry_point=entry_point
    )


@cache
def _listed() -> Mapping[tuple[str, str], LineInfo]:
    return {
        (line["source"], name): LineInfo(
            id=line["id"],
            title=line["title"],
            project=line["project"],
            entry_point=line["entry_point"],
            restates=line.get("restates"),
        )
        for content in load_files().values()
        for line in content.get("lines", ())
        for name in line["names"]
    }


@cache
def _rules() -> Mapping[str, str]:
    return {
        rule["source"]: rule["entry_point"]
        for content in load_files().values()
        for rule in content.get("rules", ())
    }
