"""Reads of judged cohorts: which there are, their entries in order, and what is excluded."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, or_, select, true

from kernelindex.catalog.cursors import check_limit
from kernelindex.catalog.database import Database
from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.rows import CohortRow, EntryRow, ExcludedRow
from kernelindex.catalog.run_rows import excluded_row
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

COHORTS, HEADS, ENTRIES, RUNS = (
    derived.cohorts,
    derived.cohort_heads,
    derived.entries,
    derived.runs,
)
TUPLES = ("unbeaten", "shared_doubts", "sources")
ENTRY_TUPLES = ("evidence_missing", "doubts", "why_not", "other_runs")
MEMORY_METRIC = "peak_memory"


class RankingReads(Database):
    """Reads what was judged; judges nothing."""

    def cohorts(
        self,
        *,
        operation: str | None = None,
        shape_key: str | None = None,
        axes: Mapping[str, int] | None = None,
        dtypes: Iterable[str] = (),
        product_ids: Iterable[str] = (),
        families: Iterable[str] = (),
        hardware: Iterable[str] = (),
        passes: Iterable[str] = (),
        metric: str | None = None,
        profile: str | None = None,
        empty: bool = False,
        limit: int = 200,
    ) -> list[CohortRow]:
        """Cohorts that meet every filter, those with most entries first.

        ``axes`` keeps shapes of exactly these axes, or where there are none of them those
        that have more; ``dtypes`` those of which some tensor has each dtype. Devices: any
        of ``product_ids``, ``families`` or ``hardware``. ``empty`` also gives cohorts
        nothing ranks in.
        """
        wanted_axes, wanted_dtypes = dict(axes or {}), tuple(dtypes)
        conditions = _equal(shape_key=shape_key, metric=metric, profile=profile)
        by_shape = shape_key is not None or bool(wanted_axes)
        if not by_shape:
            conditions += _equal(operation=operation)
        devices = _device(product_ids, families, hardware, indexed=not by_shape)
        if by_shape or operation is not None:
            devices = [or_(*devices)] if devices else []
        if wanted := sorted(passes):
            conditions.append(COHORTS.c.timed_pass.in_(wanted))
        if not empty:
            conditions.append(COHORTS.c.entry_count > 0)
        if wanted_dtypes:
            conditions.append(_has_dtypes(operation, wanted_dtypes))
        query = (
            _current(COHORTS.c.key, COHORTS.c.doc, derived.operations.c.title)
            .where(*conditions)
            .order_by(_most_entries(indexed=not by_shape), COHORTS.c.key)
            .limit(check_limit(limit))
            .execution_options(hot=True)
        )
        with self.reading() as conn:
            rows = [
                row
                for device in devices or [true()]
                for row in _with_axes(conn, query.where(device), operation, wanted_axes)
            ]
        found = {row.key: build_cohort(orjson.loads(row.doc), row.title) for row in rows}
        kept = [row for row in found.values() if operation in {None, row.operation}]
        return sorted(kept, key=lambda row: (-row.entry_count, row.key))[:limit]

    def cohort(self, key: str) -> CohortRow | None:
        """One cohort by its key, or by a prefix of it that names one."""
        if not key.startswith("sha256:"):
            key = f"sha256:{key}"
        with self.reading() as conn:
            rows = BY_KEY.rows(conn, start=key, end=f"{key}g")
        return build_cohort(orjson.loads(rows[0].doc), rows[0].title) if len(rows) == 1 else None

    def cohorts_of_another_profile(self, shape_key: str, profile: str) -> list[CohortRow]:
        """Cohorts of a shape, with entries, that are of any profile but this one."""
        with self.reading() as conn:
            rows = OF_ANOTHER_PROFILE.rows(conn, shape_key=shape_key, profile=profile)
        return [build_cohort(orjson.loads(row.doc), row.title) for row in rows]

    def entries(
        self, cohort_keys: Sequence[str], *, first: int | None = None, also: Iterable[str] = ()
    ) -> dict[str, list[EntryRow]]:
        """The entries of cohorts, each in rank order; cohorts without any are not there.

        ``first`` keeps that many of each cohort, and those whose entry key is in ``also``.
        """
        keys = list(dict.fromkeys(cohort_keys))
        found: dict[str, list[EntryRow]] = defaultdict(list)
        if not keys:
            return {}
        with self.reading() as conn:
            rows = _read_entries(conn, keys, first, sorted(also))
            memory = _memory(conn, keys)
        for text, slug, title in rows:
            doc = orjson.loads(text)
            doc["implementation"] |= {"slug": slug, "title": title}
            place = (doc["cohort_key"], doc["entry_key"])
            if place in memory:
                doc["memory_run"], doc["peak_memory_bytes"] = memory[place]
            found[doc["cohort_key"]].append(build_entry(doc))
        return dict(found)

    def excluded(
        self,
        cohort_keys: Sequence[str] = (),
        *,
        shape_key: str | None = None,
        operation: str | None = None,
        limit: int = 200,
    ) -> list[ExcludedRow]:
        """Runs that do not rank, with why: of some cohorts, a shape, or an operation."""
        conditions = [RUNS.c.reasons.is_not(None), is_published(RUNS.c.digest)]
        if cohort_keys:
            conditions.append(RUNS.c.cohort_key.in_(list(cohort_keys)))
        if shape_key is not None:
            conditions.append(RUNS.c.shape_key == shape_key)
        if operation is not None:
            conditions.append(RUNS.c.operation == operation)
        query = (
            select(RUNS.c.digest, RUNS.c.cohort_key, RUNS.c.reasons, derived.run_facts.c.facts)
            .join(derived.run_facts, derived.run_facts.c.digest == RUNS.c.digest)
            .where(*conditions)
            .order_by(RUNS.c.digest)
            .limit(check_limit(limit))
            .execution_options(hot=True)
        )
        with self.reading() as conn:
            return [excluded_row(row) for row in conn.execute(query)]


def is_published(digest: Any) -> Any:
    """The condition that a run shows: an import may have written its row ahead."""
    table = truth.manifests
    return select(table.c.digest).where(table.c.digest == digest).exists()


def operation_titles(conn: Connection, slugs: set[str]) -> dict[str, str]:
    """The titles of some operations."""
    table = derived.operations
    query = select(table.c.slug, table.c.title).where(table.c.slug.in_(slugs))
    return {row.slug: row.title for row in conn.execute(query)}


def build_cohort(doc: dict[str, Any], title: str | None) -> CohortRow:
    """A cohort's row from its stored document and the operation's title."""
    values = {**doc, "operation_title": title or doc["operation"]}
    return CohortRow(**values | {name: tuple(doc[name]) for name in TUPLES})


def build_entry(doc: dict[str, Any]) -> EntryRow:
    """An entry's row from its stored document."""
    return EntryRow(**doc | {name: tuple(doc[name]) for name in ENTRY_TUPLES})


def _current(*columns: Any) -> Any:
    """Columns of the current versions of cohorts."""
    operations = derived.operations
    joined = COHORTS.join(
        HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version)
    ).join(operations, operations.c.slug == COHORTS.c.operation, isouter=True)
    return select(*columns).select_from(joined)


BY_KEY = Prepared(
    _current(COHORTS.c.doc, derived.operations.c.title)
    .where(COHORTS.c.key >= bindparam("start"), COHORTS.c.key < bindparam("end"))
    .limit(2)
)


OF_ANOTHER_PROFILE = Prepared(
    _current(COHORTS.c.doc, derived.operations.c.title)
    .where(COHORTS.c.shape_key == bindparam("shape_key"), COHORTS.c.profile != bindparam("profile"))
    .where(COHORTS.c.entry_count > 0)
    .order_by(COHORTS.c.key)
    .limit(50)
)


def _equal(**values: str | None) -> list[Any]:
    return [COHORTS.c[name] == value for name, value in values.items() if value is not None]


def _most_entries(*, indexed: bool) -> Any:
    """The order of lists; without an index it is sorted, as a shape's few cohorts are.

    Left a choice, SQLite walks a device's or an operation's index in this order instead
    of looking up one shape: 60 ms for 2 at 100,000 runs.
    """
    return (COHORTS.c.entry_count if indexed else COHORTS.c.entry_count + 0).desc()


def _device(
    product_ids: Iterable[str], families: Iterable[str], hardware: Iterable[str], *, indexed: bool
) -> list[Any]:
    """A condition for each device named: each alone is read in order from an index.

    A product's id is also its hardware id.
    """
    wanted_families = sorted(set(families))
    wanted_hardware = sorted({*product_ids, *hardware})
    columns = (COHORTS.c.device_family, COHORTS.c.hardware)
    family, one = columns if indexed else (func.coalesce(c, "") for c in columns)
    return [
        *(family == wanted for wanted in wanted_families),
        *(one == wanted for wanted in wanted_hardware),
    ]


def _with_axes(
    conn: Connection, query: Any, operation: str | None, axes: dict[str, int]
) -> Sequence[Any]:
    """Rows whose shape has exactly these axes, by index; only else those that have more."""
    if not axes:
        return conn.execute(query).all()
    shapes = derived.shapes
    keys = select(shapes.c.shape_key)
    if operation is not None:
        keys = keys.where(shapes.c.operation == operation)
    exact = keys.where(shapes.c.axes == json_text(axes))
    rows = conn.execute(query.where(COHORTS.c.shape_key.in_(exact))).all()
    if rows:
        return rows
    for name, value in sorted(axes.items()):
        pair = f'"{name}":{value}'
        ends = [shapes.c.axes.contains(pair + end, autoescape=True) for end in (",", "}")]
        keys = keys.where(ends[0] | ends[1])
    return conn.execute(query.where(COHORTS.c.shape_key.in_(keys))).all()


def _has_dtypes(operation: str | None, dtypes: tuple[str, ...]) -> Any:
    """The condition that some tensor of a cohort's shape has each dtype.

    Matched in the shapes' stored JSON text (sorted, compact), so that none is parsed.
    """
    shapes = derived.shapes
    query = select(shapes.c.shape_key)
    if operation is not None:
        query = query.where(shapes.c.operation == operation)
    for dtype in dtypes:
        query = query.where(shapes.c.dtypes.contains(f':"{dtype}"', autoescape=True))
    return COHORTS.c.shape_key.in_(query)


def _entries_query() -> Any:
    """Current entries in rank order, with what their implementations are called now."""
    names, manifests = derived.names, truth.manifests
    joined = (
        ENTRIES.join(
            HEADS, (HEADS.c.key == ENTRIES.c.cohort_key) & (HEADS.c.version == ENTRIES.c.version)
        )
        .join(names, names.c.digest == ENTRIES.c.implementation_digest, isouter=True)
        .join(manifests, manifests.c.digest == ENTRIES.c.implementation_digest, isouter=True)
    )
    return (
        select(ENTRIES.c.doc, names.c.slug, manifests.c.title)
        .select_from(joined)
        .where(ENTRIES.c.cohort_key.in_(bindparam("keys", expanding=True)))
        .order_by(ENTRIES.c.cohort_key, ENTRIES.c.position)
    )


ALL_ENTRIES = Prepared(_entries_query())
FIRST_ENTRIES = Prepared(
    _entries_query().where(
        (ENTRIES.c.position <= bindparam("first"))
        | ENTRIES.c.entry_key.in_(bindparam("also", expanding=True))
    )
)


def _read_entries(
    conn: Connection, keys: list[str], first: int | None, also: list[str]
) -> Sequence[Any]:
    if first is None:
        return ALL_ENTRIES.rows(conn, keys=keys)
    return FIRST_ENTRIES.rows(conn, keys=keys, first=first, also=also)


def _memory_query() -> Any:
    return (
        select(COHORTS.c.key, RUNS.c.entry_key, RUNS.c.value, RUNS.c.digest)
        .select_from(COHORTS)
        .join(HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version))
        .join(
            RUNS,
            (RUNS.c.shape_key == COHORTS.c.shape_key)
            & (RUNS.c.metric == MEMORY_METRIC)
            & (RUNS.c.hardware == COHORTS.c.hardware)
            & (RUNS.c.timed_pass == COHORTS.c.timed_pass),
        )
        .where(COHORTS.c.key.in_(bindparam("keys", expanding=True)))
        .where(COHORTS.c.metric != MEMORY_METRIC)
        .where(RUNS.c.reasons.is_(None), is_published(RUNS.c.digest))
    )


MEMORY = Prepared(_memory_query())


def _memory(conn: Connection, keys: list[str]) -> dict[tuple[str, str], tuple[str, int]]:
    """Peak memory measured apart: (cohort, entry key) -> (run, bytes), the lower median."""
    found: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for key, entry_key, value, digest in MEMORY.rows(conn, keys=keys):
        found[key, entry_key].append((value, digest))
    middle = {place: sorted(values)[(len(values) - 1) // 2] for place, values in found.items()}
    return {place: (digest, int(value)) for place, (value, digest) in middle.items()}
