"""All operations: what each computes and how much was measured of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.browse import browse_operations
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
    from kernelindex.resolve.listings import OperationLine

SORTS = {"runs": "runs", "name": "name", "shapes": "shapes", "implementations": "implementations"}
KNOWN = (Option("yes", "ours, under one name"), Option("no", "as the source names it"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsPage(ListPage):
    """A page of operations."""

    template: ClassVar[str] = "operations.html"

    operations: tuple[OperationLine, ...] = field(metadata=told("operations in order"))
    total: int = field(metadata=told("operations in the catalog"))


def operations(catalog: Catalog, request: Request) -> OperationsPage:
    """Operations by family and words."""
    asked = read_asked(request, filters=("q", "family", "mapped"), sorts=SORTS)
    rows = catalog.operations()
    families = Counter(row.family for row in rows)
    filters = (
        words(asked, "q", "Name", "rms norm"),
        choice(asked, "family", "Family", _families(families)),
        choice(asked, "mapped", "Named", KNOWN),
    )
    found = browse_operations(
        rows,
        family=asked.value("family"),
        mapped=asked.value("mapped"),
        text=asked.value("q"),
        sort=asked.sort,
        cursor=asked.cursor,
        limit=LIST_ROWS,
    )
    return OperationsPage(
        title="Operations",
        description=f"{len(rows):,} operations with benchmark results of GPU kernels.",
        section="Operations",
        json_path="/api/v1/operations",
        operations=found.operations,
        total=len(rows),
        **list_fields(asked, filters, found.cursor),
    )


def _families(counts: Counter[str]) -> list[Option]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Option(name, f"{name.replace('-', ' ')} ({count:,})") for name, count in ordered]


routes = [page_route("/operations", operations)]
