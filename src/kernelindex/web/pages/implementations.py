"""All implementation revisions, by operation, project and language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.browse import browse_implementations
from kernelindex.resolve.lists import operation_slug
from kernelindex.web.context import told
from kernelindex.web.handling import page_route
from kernelindex.web.listing import (
    LIST_ROWS,
    ListPage,
    Option,
    choice,
    list_fields,
    read_asked,
    words,
)

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.listings import ImplementationLine

SORTS = {"runs": "runs", "name": "name", "project": "project", "operation": "operation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplementationsPage(ListPage):
    """A page of implementation revisions."""

    template: ClassVar[str] = "implementations.html"

    implementations: tuple[ImplementationLine, ...] = field(metadata=told("revisions in order"))
    titles: dict[str, str] = field(metadata=told("title of each operation, by slug"))
    total: int = field(metadata=told("implementation revisions in the catalog"))


def implementations(catalog: Catalog, request: Request) -> ImplementationsPage:
    """Implementation revisions by operation, project, line and language."""
    asked = read_asked(request, filters=("operation", "project", "line", "language"), sorts=SORTS)
    languages = catalog.languages()
    filters = (
        words(asked, "operation", "Operation", "rms-norm"),
        choice(asked, "language", "Language", _languages(languages)),
        words(asked, "project", "Project", "liger-kernel"),
        words(asked, "line", "Line", "project/entry point"),
    )
    wanted = dict(asked.values)
    if "operation" in wanted:
        wanted["operation"] = operation_slug(catalog, wanted["operation"])
    found = browse_implementations(
        catalog, wanted, sort=asked.sort, cursor=asked.cursor, limit=LIST_ROWS
    )
    total = sum(languages.values())
    return ImplementationsPage(
        title="Implementations",
        description=f"{total:,} implementation revisions of GPU kernels, with their runs.",
        section="Operations",
        json_path="/api/v1/implementations",
        implementations=found.implementations,
        titles=catalog.operation_titles(one.operation for one in found.implementations),
        total=total,
        **list_fields(asked, filters, found.cursor),
    )


def _languages(counts: dict[str, int]) -> list[Option]:
    return [Option(name, f"{name.replace('_', ' ')} ({count:,})") for name, count in counts.items()]


routes = [page_route("/implementations", implementations)]
