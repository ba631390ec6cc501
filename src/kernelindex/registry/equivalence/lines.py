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
    """One line; ``restates`` names the public code that a harness's own copy stands in for.

    ``id`` is what tells lines apart: it holds the operation where a project uses one name
    for the implementations of several.
    """

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
    if rule == "operation":
        authors = metadata.get("authors") or [{}]
        return LineInfo(
            id=f"{project}/{operation}",
            title=f"{authors[0].get('name') or project} · {operation}",
            project=project,
            entry_point=operation,
        )
    solution = metadata.get("title") or metadata["name"]
    return LineInfo(
        id=f"{project}/{operation}/{solution}",
        title=solution,
        project=project,
        entry_point=solution,
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
