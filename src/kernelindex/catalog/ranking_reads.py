"""Reads of judged cohorts: which there are, their entries in order, and what is excluded."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, or_, select

from kernelindex.catalog.cursors import check_limit
from kernelindex.catalog.database import Database
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

        ``axes`` keeps shapes that have these values (and perhaps more axes), ``dtypes``
        those of which some tensor has each dtype. Devices: any of ``product_ids``,
        ``families`` or ``hardware``. ``empty`` also gives cohorts nothing ranks in.
        """
        conditions = [
            *_equal(operation=operation, shape_key=shape_key, metric=metric, profile=profile),
            *_device(product_ids, families, hardware),
        ]
        if wanted := sorted(passes):
            conditions.append(COHORTS.c.timed_pass.in_(wanted))
        if not empty:
            conditions.append(COHORTS.c.entry_count > 0)
        if axes or dtypes:
            conditions.append(_shapes_with(operation, axes or {}, tuple(dtypes)))
        query = (
            _current(COHORTS.c.doc)
            .where(*conditions)
            .order_by(COHORTS.c.entry_count.desc(), COHORTS.c.key)
            .limit(check_limit(limit))
        )
        with self.reading() as conn:
            documents = [orjson.loads(doc) for doc in conn.execute(query).scalars()]
            titles = operation_titles(conn, {doc["operation"] for doc in documents})
        return [build_cohort(doc, titles) for doc in documents]

    def cohort(self, key: str) -> CohortRow | None:
        """One cohort by its key, or by a prefix of it that names one."""
        if not key.startswith("sha256:"):
            key = f"sha256:{key}"
        query = _current(COHORTS.c.doc).where(COHORTS.c.key >= key, COHORTS.c.key < key + "g")
        with self.reading() as conn:
            documents = [orjson.loads(doc) for doc in conn.execute(query.limit(2)).scalars()]
            titles = operation_titles(conn, {doc["operation"] for doc in documents})
        return build_cohort(documents[0], titles) if len(documents) == 1 else None

    def entries(
        self, cohort_keys: Sequence[str], *, first: int | None = None, also: Iterable[str] = ()
    ) -> dict[str, list[EntryRow]]:
        """The entries of cohorts, each in rank order; cohorts without any are not there.

        ``first`` keeps that many of each cohort, and those whose entry key is in ``also``.
        """
        with self.reading() as conn:
            documents = _entry_documents(conn, cohort_keys, first, sorted(also))
            shown = implementations_shown(conn, {d["implementation"]["digest"] for d in documents})
            memory = _memory(conn, documents)
        found: dict[str, list[EntryRow]] = defaultdict(list)
        for doc in documents:
            doc["implementation"] |= shown.get(doc["implementation"]["digest"], {})
            if doc["entry_key"] in memory:
                doc["memory_run"], doc["peak_memory_bytes"] = memory[doc["entry_key"]]
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


def implementations_shown(conn: Connection, digests: set[str]) -> dict[str, dict[str, str]]:
    """The slug and title of some implementations, as they are now."""
    names, table = derived.names, truth.manifests
    query = (
        select(names.c.digest, names.c.slug, table.c.title)
        .join(table, table.c.digest == names.c.digest)
        .where(names.c.digest.in_(digests))
    )
    return {row.digest: {"slug": row.slug, "title": row.title} for row in conn.execute(query)}


def build_cohort(doc: dict[str, Any], titles: Mapping[str, str]) -> CohortRow:
    """A cohort's row from its stored document."""
    values = {**doc, "operation_title": titles.get(doc["operation"], doc["operation"])}
    return CohortRow(**values | {name: tuple(doc[name]) for name in TUPLES})


def build_entry(doc: dict[str, Any]) -> EntryRow:
    """An entry's row from its stored document."""
    return EntryRow(**doc | {name: tuple(doc[name]) for name in ENTRY_TUPLES})


def _current(*columns: Any) -> Any:
    """Columns of the current versions of cohorts."""
    joined = COHORTS.join(
        HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version)
    )
    return select(*columns).select_from(joined)


def _equal(**values: str | None) -> list[Any]:
    return [COHORTS.c[name] == value for name, value in values.items() if value is not None]


def _device(
    product_ids: Iterable[str], families: Iterable[str], hardware: Iterable[str]
) -> list[Any]:
    """Any of the named devices, if any is named."""
    wanted = (
        (COHORTS.c.product_id, sorted(product_ids)),
        (COHORTS.c.device_family, sorted(families)),
        (COHORTS.c.hardware, sorted(hardware)),
    )
    named = [column.in_(values) for column, values in wanted if values]
    if not named:
        return []
    return [or_(*named)]


def _shapes_with(operation: str | None, axes: Mapping[str, int], dtypes: tuple[str, ...]) -> Any:
    """The condition that a cohort's shape has these axis values and these dtypes.

    Matched in the shapes' stored JSON text (sorted, compact), so that no shape is parsed.
    """
    shapes = derived.shapes
    query = select(shapes.c.shape_key)
    if operation is not None:
        query = query.where(shapes.c.operation == operation)
    for name, value in sorted(axes.items()):
        pair = f'"{name}":{value}'
        ends = [shapes.c.axes.contains(pair + end, autoescape=True) for end in (",", "}")]
        query = query.where(ends[0] | ends[1])
    for dtype in dtypes:
        query = query.where(shapes.c.dtypes.contains(f':"{dtype}"', autoescape=True))
    return COHORTS.c.shape_key.in_(query)


def _entry_documents(
    conn: Connection, keys: Sequence[str], first: int | None, also: Sequence[str]
) -> list[dict[str, Any]]:
    joined = ENTRIES.join(
        HEADS, (HEADS.c.key == ENTRIES.c.cohort_key) & (HEADS.c.version == ENTRIES.c.version)
    )
    query = (
        select(ENTRIES.c.doc)
        .select_from(joined)
        .where(ENTRIES.c.cohort_key.in_(bindparam("keys", expanding=True)))
        .order_by(ENTRIES.c.cohort_key, ENTRIES.c.position)
    )
    if first is not None:
        query = query.where((ENTRIES.c.position <= first) | ENTRIES.c.entry_key.in_(also))
    return [orjson.loads(doc) for doc in conn.execute(query, {"keys": list(keys)}).scalars()]


def _memory(conn: Connection, documents: list[dict[str, Any]]) -> dict[str, tuple[str, int]]:
    """Peak memory of entries measured apart: entry key -> (run, bytes), the lower median."""
    runs = sorted({doc["run_digest"] for doc in documents})
    own = RUNS.alias("own")
    query = (
        select(RUNS.c.entry_key, RUNS.c.value, RUNS.c.digest)
        .join(
            own,
            (own.c.shape_key == RUNS.c.shape_key)
            & (own.c.entry_key == RUNS.c.entry_key)
            & (own.c.hardware == RUNS.c.hardware)
            & (own.c.timed_pass == RUNS.c.timed_pass),
        )
        .where(own.c.digest.in_(runs), RUNS.c.metric == MEMORY_METRIC, RUNS.c.reasons.is_(None))
        .where(is_published(RUNS.c.digest), own.c.metric != MEMORY_METRIC)
    )
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for row in conn.execute(query):
        found[row.entry_key].append((row.value, row.digest))
    middle = {key: sorted(values)[(len(values) - 1) // 2] for key, values in found.items()}
    return {key: (digest, int(value)) for key, (value, digest) in middle.items()}
