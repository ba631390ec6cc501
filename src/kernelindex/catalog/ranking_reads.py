"""Reads of judged cohorts: which there are, their entries in order, and what is excluded."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, select, union

from kernelindex.catalog.cohort_queries import (
    FORMS_KEPT,
    Form,
    current_cohorts,
    held_texts,
    on_devices,
    read_form,
)
from kernelindex.catalog.cursors import check_limit
from kernelindex.catalog.database import Database
from kernelindex.catalog.prepared import Prepared, rows_together
from kernelindex.catalog.rows import CohortRow, EntryRow, ExcludedRow
from kernelindex.catalog.run_rows import excluded_row
from kernelindex.catalog.tables import derived, truth
from kernelindex.policy.facts import LEVELS, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from kernelindex.catalog.prepared import Read

COHORTS, HEADS, ENTRIES, RUNS = (
    derived.cohorts,
    derived.cohort_heads,
    derived.entries,
    derived.runs,
)
TUPLES = ("unbeaten", "shared_doubts", "sources")
ENTRY_TUPLES = ("evidence_missing", "doubts", "why_not", "other_runs")
MEMORY_METRIC = "peak_memory"
VERIFIED = LEVELS[LEVELS.index(Level.VERIFIED) :]


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
        by_shape = shape_key is not None or bool(axes)
        given = {"operation": None if by_shape else operation, "shape_key": shape_key}
        given |= {"metric": metric, "profile": profile}
        equal = {name: value for name, value in given.items() if value is not None}
        form = Form(
            equal=tuple(equal),
            operation=operation is not None,
            indexed=not by_shape,
            passes=bool(passes := sorted(passes)),
            dtypes=len(dtypes := tuple(dtypes)),
            empty=empty,
            limit=check_limit(limit),
        )
        values: dict[str, Any] = {**equal, **held_texts("dtypes", [f':"{one}"' for one in dtypes])}
        if operation is not None:
            values["operation"] = operation
        if passes:
            values["passes"] = passes
        devices = {"family": sorted(set(families)), "hardware": sorted({*product_ids, *hardware})}
        with self.reading() as conn:
            rows = [
                row
                for on_device, device in on_devices(form, devices)
                for row in read_form(conn, on_device, values | device, dict(axes or {}))
            ]
        found = {row.key: build_cohort(orjson.loads(row.doc), row.title) for row in rows}
        kept = [row for row in found.values() if operation in {None, row.operation}]
        return sorted(kept, key=lambda row: (-row.entry_count, row.key))[:limit]

    def cohort(self, key: str) -> CohortRow | None:
        """One cohort by its key, or by a prefix of it that names one."""
        with self.reading() as conn:
            rows = BY_KEY.rows(conn, **key_range(key))
        return cohorts_of(rows)[0] if len(rows) == 1 else None

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
            rows, measured = rows_together(
                conn, _entries_read(keys, first, sorted(also)), (MEMORY, {"keys": keys})
            )
        memory = _memory(measured)
        for text, slug, title in rows:
            doc = orjson.loads(text)
            doc["implementation"] |= {"slug": slug, "title": title}
            place = (doc["cohort_key"], doc["entry_key"])
            if place in memory and _may_be_measured_apart(doc):
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
        """Runs that do not rank, with why: of some cohorts, a shape, or an operation.

        A run without a number is in no cohort: it is of those whose shape, pass and device it
        was for.
        """
        equal = {"shape_key": shape_key, "operation": operation}
        values: dict[str, Any] = {name: value for name, value in equal.items() if value is not None}
        query = _excluded(tuple(values), bool(cohort_keys), check_limit(limit))
        if cohort_keys:
            values["cohort_keys"] = list(cohort_keys)
        with self.reading() as conn:
            return [excluded_row(row) for row in query.rows(conn, **values)]


@lru_cache(maxsize=FORMS_KEPT)
def _excluded(equal: tuple[str, ...], of_cohorts: bool, limit: int) -> Prepared:
    """Runs that do not rank, by columns that equal their bound values, and by cohorts."""
    facts = derived.run_facts
    conditions = [RUNS.c[name] == bindparam(name) for name in equal]
    if of_cohorts:
        conditions.append(RUNS.c.digest.in_(_runs_of_cohorts()))
    return Prepared(
        select(RUNS.c.digest, RUNS.c.cohort_key, RUNS.c.reasons, facts.c.facts)
        .join(facts, facts.c.digest == RUNS.c.digest)
        .where(RUNS.c.reasons.is_not(None), is_published(RUNS.c.digest), *conditions)
        .order_by(RUNS.c.digest)
        .limit(limit)
    )


def _runs_of_cohorts() -> Any:
    """Digests of the runs in the bound cohorts, and of those without a number beside them."""
    keys: Any = bindparam("cohort_keys", expanding=True)
    inside = select(RUNS.c.digest).where(RUNS.c.cohort_key.in_(keys))
    same = (
        (RUNS.c.shape_key == COHORTS.c.shape_key)
        & (RUNS.c.hardware == COHORTS.c.hardware)
        & (RUNS.c.timed_pass == COHORTS.c.timed_pass)
    )
    joined = COHORTS.join(
        HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version)
    ).join(RUNS, same)
    beside = (
        select(RUNS.c.digest)
        .select_from(joined)
        .where(COHORTS.c.key.in_(keys), RUNS.c.metric.is_(None))
    )
    return union(inside, beside)


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


def cohorts_of(rows: Iterable[Any]) -> list[CohortRow]:
    """The cohorts in rows of ``BY_KEY`` or ``OF_ANOTHER_PROFILE``."""
    return [build_cohort(orjson.loads(row.doc), row.title) for row in rows]


def build_entry(doc: dict[str, Any]) -> EntryRow:
    """An entry's row from its stored document."""
    return EntryRow(**doc | {name: tuple(doc[name]) for name in ENTRY_TUPLES})


BY_KEY = Prepared(
    current_cohorts(COHORTS.c.doc, derived.operations.c.title)
    .where(COHORTS.c.key >= bindparam("start"), COHORTS.c.key < bindparam("end"))
    .limit(2)
)


def key_range(key: str) -> dict[str, str]:
    """The keys that begin as a key or a prefix of one, with or without ``sha256:``."""
    start = f"sha256:{key.removeprefix('sha256:')}"
    return {"start": start, "end": f"{start}g"}


OF_ANOTHER_PROFILE = Prepared(
    current_cohorts(COHORTS.c.doc, derived.operations.c.title)
    .where(COHORTS.c.shape_key == bindparam("shape_key"), COHORTS.c.profile != bindparam("profile"))
    .where(COHORTS.c.entry_count > 0)
    .order_by(COHORTS.c.key)
    .limit(50)
)


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


def _entries_read(keys: list[str], first: int | None, also: list[str]) -> Read:
    if first is None:
        return ALL_ENTRIES, {"keys": keys}
    return FIRST_ENTRIES, {"keys": keys, "first": first, "also": also}


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


def _may_be_measured_apart(doc: Mapping[str, Any]) -> bool:
    """Whether another run's memory may stand in a row: not for its own, nor by a higher level."""
    return doc["peak_memory_bytes"] is None and doc["evidence"] not in VERIFIED


def _memory(rows: Iterable[Any]) -> dict[tuple[str, str], tuple[str, int]]:
    """Peak memory measured apart: (cohort, entry key) -> (run, bytes), the lower median."""
    found: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for key, entry_key, value, digest in rows:
        found[key, entry_key].append((value, digest))
    middle = {place: sorted(values)[(len(values) - 1) // 2] for place, values in found.items()}
    return {place: (digest, int(value)) for place, (value, digest) in middle.items()}
