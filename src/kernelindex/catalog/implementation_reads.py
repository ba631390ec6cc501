"""Reads of implementations as a list: filtered, sorted, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, tuple_

from kernelindex.catalog import cursors
from kernelindex.catalog.database import Database
from kernelindex.catalog.ranking_reads import is_published
from kernelindex.catalog.rows import ImplementationRow, Page, ProjectRow
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TABLE, NAMES = derived.implementations, derived.names
IMPLEMENTATION_FILTERS = {
    "operation": TABLE.c.operation,
    "project": TABLE.c.project,
    "line": TABLE.c.line_id,
    "language": TABLE.c.language,
}
ORDERS = {
    "runs": (-TABLE.c.run_count, TABLE.c.digest),
    "name": (func.lower(TABLE.c.title), TABLE.c.digest),
    "project": (TABLE.c.project, TABLE.c.digest),
    "operation": (TABLE.c.operation, TABLE.c.digest),
}
"""What each sort orders by, ascending; the digest ends every order."""


class ImplementationReads(Database):
    """Reads implementation revisions and the projects they are of."""

    def implementation(self, digest: str) -> ImplementationRow | None:
        """One implementation revision by its digest."""
        query = select(TABLE, NAMES.c.slug).join(NAMES, NAMES.c.digest == TABLE.c.digest)
        with self.reading() as conn:
            row = conn.execute(query.where(TABLE.c.digest == digest)).first()
            return None if row is None else ImplementationRow(**row._mapping)

    def implementation_page(
        self,
        filters: Mapping[str, str],
        *,
        sort: str = "runs",
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
    ) -> Page[ImplementationRow]:
        """A page in one of ``ORDERS``; ``filters`` are of ``IMPLEMENTATION_FILTERS``."""
        chosen = {"list": "implementations", "sort": sort, **filters}
        placed = int if sort == "runs" else str
        after = cursors.decode_cursor(chosen, cursor, placed, str)
        first, last = ORDERS[sort]
        query = select(TABLE, NAMES.c.slug, first.label("place"))
        query = query.join(NAMES, NAMES.c.digest == TABLE.c.digest)
        query = query.where(*(IMPLEMENTATION_FILTERS[name] == filters[name] for name in filters))
        if after is not None:
            query = query.where(tuple_(first, last) > tuple_(*after))
        query = query.order_by(first, last).limit(cursors.check_limit(limit) + 1)
        with self.reading() as conn:
            rows = conn.execute(query).all()
        shown = tuple(map(_row, rows[:limit]))
        if len(rows) <= limit:
            return Page(shown, None)
        end = rows[limit - 1]
        return Page(shown, cursors.encode_cursor(chosen, (end.place, end.digest)))

    def implementation_devices(self, digest: str) -> dict[str, int]:
        """How many runs of an implementation there are by hardware id, most first."""
        runs, count = derived.runs, func.count().label("count")
        query = (
            select(runs.c.hardware, count)
            .where(runs.c.implementation_digest == digest, is_published(runs.c.digest))
            .group_by(runs.c.hardware)
            .order_by(count.desc(), runs.c.hardware)
        )
        with self.reading() as conn:
            rows = conn.execute(query).all()
        return {str(row[0]): int(row[1]) for row in rows}

    def operation_titles(self, slugs: Iterable[str]) -> dict[str, str]:
        """The titles of some operations, by slug."""
        table = derived.operations
        query = select(table.c.slug, table.c.title).where(table.c.slug.in_(sorted(set(slugs))))
        with self.reading() as conn:
            rows = conn.execute(query).all()
        return {str(row[0]): str(row[1]) for row in rows}

    def project(self, slug: str) -> ProjectRow | None:
        """One project by its slug."""
        table = derived.projects
        with self.reading() as conn:
            row = conn.execute(select(table).where(table.c.slug == slug)).first()
            return None if row is None else ProjectRow(**row._mapping)

    def languages(self) -> dict[str, int]:
        """How many implementation revisions are in each language, most first."""
        count = func.count().label("count")
        query = select(TABLE.c.language, count).group_by(TABLE.c.language)
        with self.reading() as conn:
            rows = conn.execute(query.order_by(count.desc(), TABLE.c.language)).all()
        return {str(row[0]): int(row[1]) for row in rows}


def _row(row: Any) -> ImplementationRow:
    values = {name: value for name, value in row._mapping.items() if name != "place"}
    return ImplementationRow(**values)
