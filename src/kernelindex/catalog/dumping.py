"""All rows of the catalog in one fixed order: what exports and comparisons are made of."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import or_, select

from kernelindex.catalog import facts_codec
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Table

ROWS_AT_ONCE = 1_000
UNORDERED = frozenset({"number"})
"""Columns that hold a row's place, which says nothing."""


def dump_truth(
    conn: Connection, *, community: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row of the truth as (table, row), in the order of tables and primary keys.

    Bodies are left out that nothing published names.
    """
    tables = [*truth.EXPORTED, *(truth.COMMUNITY if community else ())]
    for table in tables:
        for row in _rows(conn, _published(table)):
            yield table.name, row


def dump_derived(conn: Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every derived row that readers see as (table, row), version numbers left out."""
    for table in derived.LOGICAL:
        for row in _rows(conn, _published(table)):
            yield table.name, {name: row[name] for name in row.keys() - UNORDERED}
    for row in _rows(conn, _published(derived.run_facts), plain=_unpacked):
        yield derived.run_facts.name, row
    heads = derived.cohort_heads
    for table, key in (
        (derived.cohorts, derived.cohorts.c.key),
        (derived.entries, derived.entries.c.cohort_key),
        (derived.record_events, derived.record_events.c.cohort_key),
    ):
        current = (heads.c.key == key) & (heads.c.version == table.c.version)
        query = select(table).join(heads, current).order_by(*table.primary_key.columns)
        for row in _rows(conn, query):
            del row["version"]
            yield table.name, row


def digest_of_dump(rows: Iterator[tuple[str, dict[str, Any]]]) -> str:
    """``sha256:`` over a dump's lines."""
    total = hashlib.sha256()
    for table, row in rows:
        total.update(dump_line(table, row))
    return f"sha256:{total.hexdigest()}"


def dump_line(table: str, row: dict[str, Any]) -> bytes:
    """One row as a line of JSON, keys sorted."""
    line = {"table": table, "row": row}
    return orjson.dumps(line, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _published(table: Table) -> Any:
    """A table's visible rows in order."""
    query = select(table)
    named: list[Any] = []
    if table is truth.bodies:
        named = [
            select(truth.manifests.c.digest).where(truth.manifests.c.digest == table.c.digest),
            select(truth.observations.c.id).where(
                truth.observations.c.row_digest == table.c.digest
            ),
        ]
    elif table is truth.artifact_bodies:
        artifacts = truth.artifacts
        named = [select(artifacts.c.id).where(artifacts.c.digest == table.c.digest)]
    elif table in {derived.runs, derived.run_facts, derived.operation_specs}:
        manifests = truth.manifests
        named = [select(manifests.c.digest).where(manifests.c.digest == table.c.digest)]
    if named:
        query = query.where(or_(*(one.exists() for one in named)))
    order = [c for c in table.primary_key.columns if c.name not in UNORDERED]
    return query.order_by(*(order or [table.c.key]))


def _rows(
    conn: Connection, query: Any, *, plain: Callable[[Any], Any] | None = None
) -> Iterator[dict[str, Any]]:
    with conn.execution_options(yield_per=ROWS_AT_ONCE).execute(query) as result:
        names = [str(column.name) for column in query.selected_columns]
        for row in result:
            yield dict(zip(names, map(plain or _plain, row), strict=True))


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _unpacked(value: Any) -> Any:
    """Facts as text: their bytes depend on the version of zstd."""
    return facts_codec.unpacked(value).decode() if isinstance(value, bytes) else value
