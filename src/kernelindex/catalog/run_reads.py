"""Reads of runs and of record events, by filters and a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import func, select, tuple_

from kernelindex.catalog import cursors
from kernelindex.catalog.database import Database
from kernelindex.catalog.judge_context import newest_snapshots
from kernelindex.catalog.lookup_reads import aliases_of, sources_of
from kernelindex.catalog.ranking_reads import (
    implementations_shown,
    is_published,
    operation_titles,
)
from kernelindex.catalog.rows import Page, RecordRow, RunRow
from kernelindex.catalog.run_rows import run_row
from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import derived, truth
from kernelindex.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

RUNS, FACTS, EVENTS = derived.runs, derived.run_facts, derived.record_events
RUN_FILTERS = {
    "operation": RUNS.c.operation,
    "source": RUNS.c.source,
    "hardware": RUNS.c.hardware,
    "family": RUNS.c.device_family,
    "implementation": RUNS.c.implementation_digest,
    "workload": RUNS.c.workload_digest,
    "line": RUNS.c.line_id,
    "project": RUNS.c.project,
    "status": RUNS.c.status,
    "timed_pass": RUNS.c.timed_pass,
    "metric": RUNS.c.metric,
    "shape_key": RUNS.c.shape_key,
    "cohort_key": RUNS.c.cohort_key,
    "entry_key": RUNS.c.entry_key,
    "comparison_key": RUNS.c.comparison_key,
}
RECORD_FILTERS = {
    "operation": EVENTS.c.operation,
    "hardware": EVENTS.c.hardware,
    "cohort_key": EVENTS.c.cohort_key,
    "run_digest": EVENTS.c.run_digest,
}
Filters = dict[str, str]


class RunReads(Database):
    """Reads runs and the history of leaders."""

    def run(self, digest: str) -> RunRow | None:
        """One run by its full digest, with its source rows, aliases and rank."""
        with self.reading() as conn:
            row = conn.execute(_runs_query().where(RUNS.c.digest == digest)).first()
            if row is None:
                return None
            return _build(conn, [row], detailed=True)[0]

    def runs(
        self,
        filters: Filters | None = None,
        *,
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
    ) -> Page[RunRow]:
        """Runs that meet every filter, newest first; see ``RUN_FILTERS`` for the names."""
        chosen = {"list": "runs", **(filters or {})}
        after = cursors.decode_cursor(chosen, cursor)
        query = _runs_query().where(*_conditions(filters or {}, RUN_FILTERS))
        if after is not None:
            query = query.where(_older(RUNS.c.observed_date, RUNS.c.digest, after))
        query = query.order_by(RUNS.c.observed_date.desc(), RUNS.c.digest.desc())
        with self.reading() as conn:
            rows = conn.execute(query.limit(cursors.check_limit(limit) + 1)).all()
            built = _build(conn, rows[:limit])
        if len(rows) <= limit:
            return Page(tuple(built), None)
        last = rows[limit - 1]
        return Page(tuple(built), cursors.encode_cursor(chosen, (last.observed_date, last.digest)))

    def records(
        self,
        filters: Filters | None = None,
        *,
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
    ) -> Page[RecordRow]:
        """Changes of leaders, newest first; see ``RECORD_FILTERS`` for the names."""
        chosen = {"list": "records", **(filters or {})}
        after = cursors.decode_cursor(chosen, cursor)
        heads = derived.cohort_heads
        joined = EVENTS.join(
            heads, (heads.c.key == EVENTS.c.cohort_key) & (heads.c.version == EVENTS.c.version)
        )
        place = (EVENTS.c.date, EVENTS.c.cohort_key, EVENTS.c.ordinal)
        query = select(*place, EVENTS.c.doc).select_from(joined)
        query = query.where(*_conditions(filters or {}, RECORD_FILTERS))
        if after is not None:
            query = query.where(tuple_(*place) < tuple_(*after))
        query = query.order_by(*(column.desc() for column in place))
        with self.reading() as conn:
            rows = conn.execute(query.limit(cursors.check_limit(limit) + 1)).all()
            built = _records(conn, rows[:limit])
        if len(rows) <= limit:
            return Page(built, None)
        last = rows[limit - 1]
        return Page(
            built, cursors.encode_cursor(chosen, (last.date, last.cohort_key, last.ordinal))
        )

    def run_count(self) -> int:
        """How many benchmark runs are published."""
        table = derived.facets
        query = select(func.sum(table.c.count)).where(table.c.facet == "status")
        with self.reading() as conn:
            return int(conn.execute(query).scalar_one() or 0)


def _runs_query() -> Any:
    return (
        select(RUNS, FACTS.c.facts)
        .join(FACTS, FACTS.c.digest == RUNS.c.digest)
        .where(is_published(RUNS.c.digest))
    )


def _conditions(filters: Filters, known: dict[str, Any]) -> list[Any]:
    unknown = sorted(filters.keys() - known.keys())
    if unknown:
        raise RequestError(
            f"No filter {', '.join(unknown)}; there are {', '.join(sorted(known))}",
            code="request.filter",
        )
    return [known[name] == value for name, value in filters.items()]


def _older(date: Any, digest: Any, after: tuple[Any, ...]) -> Any:
    return tuple_(date, digest) < tuple_(*after)


def _build(conn: Connection, rows: Sequence[Any], *, detailed: bool = False) -> list[RunRow]:
    titles = operation_titles(conn, {row.operation for row in rows})
    shown = implementations_shown(conn, {row.implementation_digest for row in rows})
    newest = newest_snapshots(conn)
    entries = _entries_of(conn, rows)
    return [
        run_row(
            row,
            title=titles.get(row.operation, row.operation),
            implementation=shown.get(row.implementation_digest, {}),
            newest=newest,
            entry=entries.get((row.cohort_key, row.entry_key)) if not row.reasons else None,
            told=_told(conn, row.digest) if detailed else None,
        )
        for row in rows
    ]


def _entries_of(conn: Connection, rows: Sequence[Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The stored entries the runs are in, by cohort and entry key."""
    table, heads = derived.entries, derived.cohort_heads
    keys = {row.cohort_key for row in rows if row.entry_key is not None}
    wanted = {row.entry_key for row in rows if row.entry_key is not None}
    joined = table.join(
        heads, (heads.c.key == table.c.cohort_key) & (heads.c.version == table.c.version)
    )
    query = (
        select(table.c.cohort_key, table.c.entry_key, table.c.doc)
        .select_from(joined)
        .where(table.c.cohort_key.in_(keys), table.c.entry_key.in_(wanted))
    )
    return {(row.cohort_key, row.entry_key): orjson.loads(row.doc) for row in conn.execute(query)}


def _told(conn: Connection, digest: str) -> dict[str, Any]:
    told, bodies = truth.observations, truth.bodies
    query = (
        select(told.c.source, told.c.published_at, told.c.parser_version, bodies.c.body)
        .join(bodies, bodies.c.digest == told.c.row_digest)
        .where(told.c.run_digest == digest)
        .order_by(told.c.id)
    )
    rows = conn.execute(query).all()
    published = [row.published_at for row in rows if row.published_at]
    return {
        "published_at": min(published) if published else None,
        "sources": sources_of(conn, digest),
        "aliases": aliases_of(conn, digest),
        "source_rows": tuple(
            {"source": row.source, "row": read_body(row.body), "parser": row.parser_version}
            for row in rows
        ),
    }


def _records(conn: Connection, rows: Sequence[Any]) -> tuple[RecordRow, ...]:
    documents = [orjson.loads(row.doc) for row in rows]
    titles = operation_titles(conn, {doc["operation"] for doc in documents})
    return tuple(
        RecordRow(
            **doc | {"unbeaten": tuple(doc["unbeaten"])},
            operation_title=titles.get(doc["operation"], doc["operation"]),
        )
        for doc in documents
    )
