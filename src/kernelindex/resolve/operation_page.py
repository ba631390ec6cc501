"""An operation with what it computes, how much was measured, and what it may be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from kernelindex.errors import NotFoundError
from kernelindex.registry.operations import find_operation, load_operations
from kernelindex.resolve.answer import Part
from kernelindex.resolve.groups import GroupCountLine, GroupList, count_groups, list_groups
from kernelindex.resolve.listings import OperationLine, view_operation
from kernelindex.resolve.objects import operation_row
from kernelindex.resolve.semantics import Semantics, read_semantics, view_semantics

if TYPE_CHECKING:
    from kernelindex.catalog.catalog import Catalog
    from kernelindex.catalog.rows import OperationRow

MOST_HITS = 8


class OperationDossier(Part):
    """Everything about an operation that does not depend on what a reader narrows it to."""

    operation: OperationLine = Field(description="its names and counts")
    semantics: Semantics = Field(description="what it computes and what that costs")
    counts: tuple[GroupCountLine, ...] = Field(description="groups by GPU, pass and metric")


def find_row(catalog: Catalog, ident: str) -> OperationRow:
    """The operation that a slug, alias or digest prefix means.

    Raises NotFoundError ``operation.not_found`` with operations of a similar name.
    """
    row = operation_row(catalog, ident)
    if row is not None:
        return row
    hits = catalog.search_text(ident.replace("-", " "), MOST_HITS).hits
    found = {hit.slug: hit.title for hit in hits if hit.kind == "operation"}
    near = find_operation(ident).suggestions
    found |= {slug: load_operations()[slug].title for slug in near if catalog.operation(slug)}
    raise NotFoundError(
        f"no operation is called {ident!r} here",
        code="operation.not_found",
        matches=[
            {"title": title, "kind": "operation", "href": f"/operations/{slug}"}
            for slug, title in found.items()
        ],
    )


def show_operation(catalog: Catalog, row: OperationRow) -> OperationDossier:
    """The dossier of an operation."""
    return OperationDossier(
        operation=view_operation(row),
        semantics=_semantics(catalog, row),
        counts=count_groups(catalog, operation=row.slug),
    )


def operation_groups(
    catalog: Catalog, slug: str, *, cursor: str | None = None, limit: int, **filters: str | None
) -> GroupList:
    """A page of an operation's groups; filters: hardware, timed_pass, metric."""
    return list_groups(catalog, operation=slug, cursor=cursor, limit=limit, **filters)


def _semantics(catalog: Catalog, row: OperationRow) -> Semantics:
    """As our registry has it, with the costs of the shape with most entries as an example."""
    known = load_operations().get(row.slug)
    if known is not None:
        shown = catalog.group_page(operation=row.slug, limit=1).rows
        example = shown[0] if shown else None
        return view_semantics(
            known, example.axes if example else {}, example.dtypes if example else {}
        )
    stored = catalog.manifest(row.digests[0]) if row.digests else None
    return read_semantics(stored.document) if stored else Semantics()
