"""Lists for browsing: filtered by words, in an order that the reader chooses."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kernelindex.catalog import cursors
from kernelindex.resolve.listings import (
    ImplementationLine,
    ImplementationList,
    OperationList,
    ProjectLine,
    ProjectList,
    view_operation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex.catalog.rows import ImplementationRow, OperationRow, Page, ProjectRow

    Key = Callable[[Any], tuple[Any, ...]]

Row = TypeVar("Row")

OPERATION_SORTS: Mapping[str, Key] = {
    "runs": lambda row: (-row.run_count, row.slug),
    "name": lambda row: (row.title.casefold(), row.slug),
    "shapes": lambda row: (-row.shape_count, row.slug),
    "implementations": lambda row: (-row.implementation_count, row.slug),
}
PROJECT_SORTS: Mapping[str, Key] = {
    "runs": lambda row: (-row.run_count, row.slug),
    "name": lambda row: (row.title.casefold(), row.slug),
    "implementations": lambda row: (-row.implementation_count, row.slug),
}
IMPLEMENTATION_SORTS = ("runs", "name", "project", "operation")


class BrowseReads(Protocol):
    """What the catalog is asked for these lists."""

    def operations(self, family: str | None = None) -> Sequence[OperationRow]: ...

    def projects(self) -> Sequence[ProjectRow]: ...

    def implementation_page(
        self,
        filters: Mapping[str, str],
        *,
        sort: str = "runs",
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[ImplementationRow]: ...


def browse_operations(
    rows: Sequence[OperationRow],
    *,
    family: str = "",
    mapped: str = "",
    text: str = "",
    sort: str = "runs",
    cursor: str | None = None,
    limit: int = 50,
) -> OperationList:
    """A page of ``rows`` that hold every word of ``text``; ``mapped`` is yes, no or empty."""
    words = text.casefold().split()
    kept = [
        row
        for row in rows
        if (not family or row.family == family)
        and (not mapped or row.mapped == (mapped == "yes"))
        and _holds(words, row.slug, row.title, *row.aliases)
    ]
    filters = {"list": "operations", "family": family, "mapped": mapped, "text": text}
    shown, after = _page(kept, filters | {"sort": sort}, cursor, limit, OPERATION_SORTS[sort])
    return OperationList(operations=tuple(map(view_operation, shown)), cursor=after)


def browse_projects(
    rows: Sequence[ProjectRow],
    *,
    text: str = "",
    sort: str = "runs",
    cursor: str | None = None,
    limit: int = 50,
) -> ProjectList:
    """A page of ``rows`` that hold every word of ``text``."""
    words = text.casefold().split()
    kept = [row for row in rows if _holds(words, row.slug, row.title)]
    filters = {"list": "projects", "text": text, "sort": sort}
    shown, after = _page(kept, filters, cursor, limit, PROJECT_SORTS[sort])
    return ProjectList(projects=tuple(ProjectLine(**asdict(row)) for row in shown), cursor=after)


def browse_implementations(
    catalog: BrowseReads,
    filters: Mapping[str, str],
    *,
    sort: str = "runs",
    cursor: str | None = None,
    limit: int = 50,
) -> ImplementationList:
    """A page of implementation revisions; filters: operation, project, line, language."""
    page = catalog.implementation_page(filters, sort=sort, cursor=cursor, limit=limit)
    rows = tuple(ImplementationLine(**asdict(row)) for row in page.rows)
    return ImplementationList(implementations=rows, cursor=page.cursor)


def _holds(words: Sequence[str], *texts: str) -> bool:
    whole = " ".join(texts).casefold()
    return all(word in whole for word in words)


def _page(
    rows: Sequence[Row], filters: dict[str, Any], cursor: str | None, limit: int, key: Key
) -> tuple[Sequence[Row], str | None]:
    """The rows after a cursor's, in the order of ``key``; the lists here are short."""
    after = cursors.decode_cursor(filters, cursor)
    if after is not None and rows and list(map(type, after)) != list(map(type, key(rows[0]))):
        raise cursors.no_cursor()
    left = [row for row in sorted(rows, key=key) if after is None or key(row) > after]
    shown = left[: cursors.check_limit(limit)]
    more = len(left) > len(shown)
    return shown, cursors.encode_cursor(filters, key(shown[-1])) if more else None
