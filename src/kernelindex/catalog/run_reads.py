"""Reads of runs and of record events, by filters and a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, case, func, select, tuple_

from kernelindex.catalog import cursors
from kernelindex.catalog.database import Database
from kernelindex.catalog.judge_context import newest_snapshots
from kernelindex.catalog.lookup_reads import ALIASES_QUERY, distinct_aliases
from kernelindex.catalog.prepared import Prepared, rows_together
from kernelindex.catalog.ranking_reads import is_published, operation_titles
from kernelindex.catalog.rows import FacetCount, Page, RecordRow, RunRow
from kernelindex.catalog.run_rows import represents, run_row
from kernelindex.catalog.shown_status import LEFT_OUT, is_left_out, shown_status
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
    "status": shown_status(RUNS),
    "listed": case((is_left_out(RUNS), "on_request"), else_="always"),
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
FEW = {"implementation", "workload"}
"""Filters that few runs meet, each with an index."""
MOST_LEFT_OUT = 1_000_000
Filters = dict[str, str]
Entries = dict[tuple[str, str], dict[str, Any]]


class RunReads(Database):
    """Reads runs and the history of leaders."""

    def run(self, digest: str) -> RunRow | None:
        """One run by its full digest, with its source rows, aliases and rank."""
        with self.reading() as conn:
            asked = {"digest": digest}
            reads = (RUN_BY_DIGEST, ENTRY_OF_RUN, TOLD_QUERY, ALIASES_QUERY)
            rows, entries, told, aliases = rows_together(conn, *((one, asked) for one in reads))
            if not rows:
                return None
            return _build(conn, rows, _by_place(entries), told=_told(told, aliases))[0]

    def runs(
        self,
        filters: Filters | None = None,
        *,
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
        oldest_first: bool = False,
    ) -> Page[RunRow]:
        """Runs that meet every filter, newest first; see ``RUN_FILTERS`` for the names."""
        chosen = {"list": _ordered("runs", oldest_first), **(filters or {})}
        after = cursors.decode_cursor(chosen, cursor, str, str)
        query = RUNS_QUERY.where(*_conditions(filters or {}, RUN_FILTERS))
        query = _by_date(query, (RUNS.c.observed_at, RUNS.c.digest), after, oldest_first)
        with self.reading() as conn:
            rows = conn.execute(query.limit(cursors.check_limit(limit) + 1)).all()
            built = _build(conn, rows[:limit], _entries_of(conn, rows[:limit]))
        if len(rows) <= limit:
            return Page(tuple(built), None)
        last = rows[limit - 1]
        return Page(tuple(built), cursors.encode_cursor(chosen, (last.observed_at, last.digest)))

    def records(
        self,
        filters: Filters | None = None,
        *,
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
        oldest_first: bool = False,
    ) -> Page[RecordRow]:
        """Changes of leaders, newest first, by ``RECORD_FILTERS`` and ``family``."""
        chosen = {"list": _ordered("records", oldest_first), **(filters or {})}
        after = cursors.decode_cursor(chosen, cursor, str, str, int)
        heads = derived.cohort_heads
        joined = EVENTS.join(
            heads, (heads.c.key == EVENTS.c.cohort_key) & (heads.c.version == EVENTS.c.version)
        )
        place = (EVENTS.c.date, EVENTS.c.cohort_key, EVENTS.c.ordinal)
        query = select(*place, EVENTS.c.doc).select_from(joined)
        query = query.where(*_record_conditions(filters or {}))
        query = _by_date(query, place, after, oldest_first)
        with self.reading() as conn:
            rows = conn.execute(query.limit(cursors.check_limit(limit) + 1)).all()
            built = _records(conn, rows[:limit])
        if len(rows) <= limit:
            return Page(built, None)
        last = rows[limit - 1]
        return Page(
            built, cursors.encode_cursor(chosen, (last.date, last.cohort_key, last.ordinal))
        )

    def left_out_runs(self, filters: Filters | None = None) -> list[FacetCount]:
        """How many runs that meet every filter have each status of ``LEFT_OUT``, most first.

        Without a filter it is the facet; with one the runs are counted, if there are any.
        """
        facets = derived.facets
        known = (facets.c.facet == "status") & facets.c.value.in_(LEFT_OUT)
        query = select(facets.c.value, facets.c.count).where(known)
        with self.reading() as conn:
            rows = conn.execute(query).all()
            if filters and rows:
                rows = conn.execute(_left_out_query(filters)).all()
        counted = [FacetCount(facet="status", value=value, count=count) for value, count in rows]
        return sorted(counted, key=lambda one: (-one.count, one.value))

    def run_count(self) -> int:
        """How many benchmark runs are published."""
        table = derived.facets
        query = select(func.sum(table.c.count)).where(table.c.facet == "status")
        with self.reading() as conn:
            return int(conn.execute(query).scalar_one() or 0)


def _runs_query() -> Any:
    """Published runs with their facts and what operation and implementation are called."""
    manifests, names, operations = truth.manifests, derived.names, derived.operations
    implementation = manifests.alias("implementation")
    joined = (
        RUNS.join(FACTS, FACTS.c.digest == RUNS.c.digest)
        .join(operations, operations.c.slug == RUNS.c.operation, isouter=True)
        .join(names, names.c.digest == RUNS.c.implementation_digest, isouter=True)
        .join(implementation, implementation.c.digest == RUNS.c.implementation_digest, isouter=True)
    )
    return (
        select(
            RUNS,
            FACTS.c.facts,
            operations.c.title.label("operation_title"),
            names.c.slug.label("implementation_slug"),
            implementation.c.title.label("implementation_title"),
        )
        .select_from(joined)
        .where(is_published(RUNS.c.digest))
    )


def _left_out_query(filters: Filters) -> Any:
    """How many runs that these filters meet are left out, by status.

    Of 300,000 runs of one operation those left out are found in 70 ms by one walk over all,
    in 800 ms where an index leads to each; the limit keeps the walk apart. Runs of one
    implementation or workload are few.
    """
    query = select(shown_status(RUNS).label("status")).where(is_published(RUNS.c.digest))
    query = query.where(*_conditions(filters, RUN_FILTERS), is_left_out(RUNS))
    if not filters.keys() & FEW:
        found = select(RUNS.c.digest).where(is_left_out(RUNS)).limit(MOST_LEFT_OUT)
        query = query.where(RUNS.c.digest.in_(found))
    status = query.subquery("left_out").c.status
    return select(status, func.count()).group_by(status)


RUNS_QUERY = _runs_query()
RUN_BY_DIGEST = Prepared(RUNS_QUERY.where(RUNS.c.digest == bindparam("digest")))


def _conditions(filters: Filters, known: dict[str, Any]) -> list[Any]:
    unknown = sorted(filters.keys() - known.keys())
    if unknown:
        raise RequestError(
            f"No filter {', '.join(unknown)}; there are {', '.join(sorted(known))}",
            code="request.filter",
        )
    return [known[name] == value for name, value in filters.items()]


def _record_conditions(filters: Filters) -> list[Any]:
    """Those of ``RECORD_FILTERS``, and ``family``: events name devices, not their families."""
    known = {name: value for name, value in filters.items() if name != "family"}
    found = _conditions(known, RECORD_FILTERS)
    if "family" in filters:
        table = derived.hardware
        found.append(
            EVENTS.c.hardware.in_(select(table.c.id).where(table.c.family == filters["family"]))
        )
    return found


def _ordered(name: str, oldest_first: bool) -> str:
    return f"{name}, oldest first" if oldest_first else name


def _by_date(
    query: Any, place: tuple[Any, ...], after: tuple[Any, ...] | None, oldest_first: bool
) -> Any:
    """The query in the order of ``place``, newest first or not, from behind ``after``."""
    if oldest_first:
        rest = query if after is None else query.where(tuple_(*place) > tuple_(*after))
        return rest.order_by(*place)
    rest = query if after is None else query.where(tuple_(*place) < tuple_(*after))
    return rest.order_by(*(column.desc() for column in place))


def _build(
    conn: Connection, rows: Sequence[Any], entries: Entries, *, told: dict[str, Any] | None = None
) -> list[RunRow]:
    """The runs of these rows; ``told`` is what sources say of the only one."""
    found = [
        entries.get((row.cohort_key, row.entry_key)) if not row.reasons else None for row in rows
    ]
    stands = [represents(row.digest, entry) for row, entry in zip(rows, found, strict=True)]
    newest = {} if all(stands) else newest_snapshots(conn)
    return [
        run_row(
            row,
            newest=newest,
            entry=entry,
            told=told,
        )
        for row, entry in zip(rows, found, strict=True)
    ]


ENTRIES, HEADS = derived.entries, derived.cohort_heads
_ENTRIES = select(ENTRIES.c.cohort_key, ENTRIES.c.entry_key, ENTRIES.c.doc).join(
    HEADS, (HEADS.c.key == ENTRIES.c.cohort_key) & (HEADS.c.version == ENTRIES.c.version)
)
ENTRIES_QUERY = Prepared(
    _ENTRIES.where(
        ENTRIES.c.cohort_key.in_(bindparam("cohorts", expanding=True)),
        ENTRIES.c.entry_key.in_(bindparam("entries", expanding=True)),
    )
)
ENTRY_OF_RUN = Prepared(
    _ENTRIES.join(
        RUNS,
        (RUNS.c.cohort_key == ENTRIES.c.cohort_key) & (RUNS.c.entry_key == ENTRIES.c.entry_key),
    ).where(RUNS.c.digest == bindparam("digest"))
)


def _entries_of(conn: Connection, rows: Sequence[Any]) -> Entries:
    """The stored entries the runs are in, by cohort and entry key."""
    ranked = [row for row in rows if row.entry_key is not None and not row.reasons]
    if not ranked:
        return {}
    found = ENTRIES_QUERY.rows(
        conn,
        cohorts=sorted({row.cohort_key for row in ranked}),
        entries=sorted({row.entry_key for row in ranked}),
    )
    return _by_place(found)


def _by_place(rows: Sequence[Any]) -> Entries:
    return {(row.cohort_key, row.entry_key): orjson.loads(row.doc) for row in rows}


TOLD_QUERY = Prepared(
    select(
        truth.observations.c.source,
        truth.observations.c.published_at,
        truth.observations.c.parser_version,
        truth.bodies.c.body,
    )
    .join(truth.bodies, truth.bodies.c.digest == truth.observations.c.row_digest)
    .where(truth.observations.c.run_digest == bindparam("digest"))
    .order_by(truth.observations.c.id)
)


def _told(rows: Sequence[Any], aliases: Sequence[Any]) -> dict[str, Any]:
    """What sources say of one run, in full."""
    published = [row.published_at for row in rows if row.published_at]
    return {
        "published_at": min(published) if published else None,
        "sources": tuple(sorted({row.source for row in rows})),
        "aliases": distinct_aliases(aliases),
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
