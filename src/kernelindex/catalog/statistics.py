"""What PostgreSQL's planner knows of the tables, refreshed where an import brings many rows.

Left to itself the server notices within minutes. Until then it searches whole tables and joins
lists row by row: of 7.2 s that an import of the public export took it, 4 went there, and a
read of a run took 2 ms longer. Long texts are left out, which nothing is compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Table

    from kernelindex.catalog.database import Database

WORTH_IT = 1_000
"""Rows of a source for which looking at the tables pays."""
LONG_TEXTS = frozenset({"body", "doc", "facts", "metadata", "words", "vector", "bound", "title"})
WRITTEN_AHEAD = (derived.runs, derived.run_facts, truth.bodies, *truth.STAGED.values())


def learn_staged(database: Database, rows: int) -> None:
    """Look at what an import has staged, before it is judged."""
    _learn(database, WRITTEN_AHEAD, rows)


def learn_waiting(database: Database, rows: int) -> None:
    """Look at the runs that a rebuild has read anew, before they are judged."""
    _learn(database, (derived.pending_runs, derived.pending_facts), rows)


def learn_published(database: Database, rows: int) -> None:
    """Look at everything that is read, after it was published."""
    scratch = {*derived.WORKING, *truth.STAGED.values()}
    tables = [*truth.metadata.tables.values(), *derived.metadata.tables.values()]
    _learn(database, [table for table in tables if table not in scratch], rows)


def _learn(database: Database, tables: Iterable[Table], rows: int) -> None:
    if not database.is_postgresql or rows < WORTH_IT:
        return
    with database.writing() as conn:
        conn.exec_driver_sql("ANALYZE " + ", ".join(map(_columns, tables)))


def _columns(table: Table) -> str:
    names = [f'"{column.name}"' for column in table.columns if column.name not in LONG_TEXTS]
    return f'"{table.name}" ({", ".join(names)})'
