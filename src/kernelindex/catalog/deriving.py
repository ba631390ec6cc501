"""Judging the cohorts that a change touches, ahead of publishing.

A new version of each touched cohort is written beside the old one, in short committed
transactions; nothing points at it until it is published. A run that is published
already keeps its row; its new standing waits in ``pending_runs``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from sqlalchemy import bindparam, case, func, insert, literal, select, union, union_all, update

from kernelindex.catalog import bulk, facts_codec
from kernelindex.catalog.cohort_documents import CohortDocuments, build_documents
from kernelindex.catalog.judge_context import ContextReader
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.run_reading import hardware_id
from kernelindex.catalog.tables import derived, truth
from kernelindex.policy.facts import DeviceClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.recent import Recent
    from kernelindex.policy.facts import RunFacts

COHORTS_AT_ONCE = 100
RUNS, PENDING = derived.runs, derived.pending_runs
STANDING = ("superseded_by", "retracted", "reasons")


class Member(NamedTuple):
    """One run of a cohort under judgement, with its standing before and where its row is."""

    facts: RunFacts
    before: tuple[str | None, str | None, str | None]
    place: str


Judgement = tuple[list[Member], CohortDocuments]
NEW, PUBLISHED, WAITING = "new", "published", "waiting"


def touch_cohorts(conn: Connection, *, everything: bool, sources: set[str]) -> None:
    """Fill ``work_cohorts`` with what must be judged again.

    Cohorts of new runs, of runs whose standing, facts or evidence change, and of
    ``sources`` (their newest snapshot's date changed, on which doubts depend).
    """
    conn.execute(derived.work_cohorts.delete())
    if everything:
        keys: Any = union(select(RUNS.c.cohort_key), select(PENDING.c.cohort_key))
    else:
        parts = [_of_new_runs(), _of_changed_standing(), *_of_pending(), *_of_evidence()]
        if sources:
            parts.append(select(RUNS.c.cohort_key).where(RUNS.c.source.in_(sorted(sources))))
        keys = union(*parts)
    keys = keys.subquery("touched")
    rows = select(keys.c.cohort_key).where(keys.c.cohort_key.is_not(None))
    conn.execute(insert(derived.work_cohorts).from_select(["key"], rows))


def _of_new_runs() -> Any:
    staged = truth.STAGED["manifests"]
    return (
        select(RUNS.c.cohort_key)
        .join(staged, staged.c.digest == RUNS.c.digest)
        .where(~_is_published(RUNS.c.digest))
    )


def _of_changed_standing() -> Any:
    work = derived.work_runs
    return (
        select(RUNS.c.cohort_key)
        .join(work, work.c.digest == RUNS.c.digest)
        .where(
            work.c.superseded_by.is_distinct_from(RUNS.c.superseded_by)
            | work.c.retracted.is_distinct_from(RUNS.c.retracted)
        )
    )


def _of_pending() -> tuple[Any, ...]:
    waiting = select(PENDING.c.digest)
    return (
        select(PENDING.c.cohort_key),
        select(RUNS.c.cohort_key).where(RUNS.c.digest.in_(waiting)),
    )


def _of_evidence() -> tuple[Any, ...]:
    """Every cohort of a runner of which a bundle arrives: its sequence has another member."""
    keys = select(truth.STAGED["evidence_bundles"].c.key_digest)
    tables = (truth.evidence_findings, truth.STAGED["evidence_findings"])
    return tuple(
        select(RUNS.c.cohort_key)
        .join(table, table.c.run_digest == RUNS.c.digest)
        .where(table.c.key_digest.in_(keys))
        for table in tables
    )


def _is_published(digest: Any) -> Any:
    return select(truth.manifests.c.digest).where(truth.manifests.c.digest == digest).exists()


def judge_touched(
    database: Database, version: int, newest: dict[str, str], fresh: Recent[str, RunFacts]
) -> int:
    """Judge every cohort of ``work_cohorts`` into ``version``; returns how many.

    ``fresh`` holds facts as this change read them, which are not decoded again.
    """
    context = ContextReader(newest)
    judged, after = 0, ""
    while True:
        with database.reading_long() as conn:
            keys = _next_keys(conn, after)
            if not keys:
                return judged
            judgement = judge_members(conn, list(_members(conn, keys, fresh)), context)
        with database.writing() as conn:
            write_judgement(conn, version, judgement)
        judged += len(keys)
        after = keys[-1]


def judge_members(
    conn: Connection, members: list[tuple[str, Member]], context: ContextReader
) -> list[Judgement]:
    """Judge the runs of some whole cohorts, without a lock: it takes longer than writing.

    A change that is published before this judgement is written raises the generation, and
    all is judged again.
    """
    shown, judge_context = context.prepare(conn, [member.facts for _, member in members])
    judged = []
    for key, group in groupby(members, key=lambda pair: pair[0]):
        cohort = [member for _, member in group]
        built = build_documents(key, [m.facts for m in cohort], judge_context, shown)
        judged.append((cohort, built))
    return judged


def write_judgement(conn: Connection, version: int, judged: list[Judgement]) -> None:
    """Write the cohorts' rows under ``version``, and the standing of their runs."""
    for cohort, built in judged:
        _write_standing(conn, cohort, built)
    _write_documents(conn, version, [built for _, built in judged])


def published_members(
    conn: Connection, key: str, standing: dict[str, tuple[str | None, str | None]]
) -> list[tuple[str, Member]]:
    """The published runs of one cohort, some with another standing than their row says.

    Looks at none of the scratch tables, which a running import may be using.
    """
    query = (
        select(RUNS.c.digest, *(RUNS.c[n] for n in STANDING), derived.run_facts.c.facts)
        .join(derived.run_facts, derived.run_facts.c.digest == RUNS.c.digest)
        .where(RUNS.c.cohort_key == key, _is_published(RUNS.c.digest))
        .order_by(RUNS.c.digest)
    )
    members = []
    for row in conn.execute(query):
        before = (row.superseded_by, row.retracted, row.reasons)
        superseded_by, retracted = standing.get(row.digest, before[:2])
        facts = replace(
            facts_codec.decode(row.facts), superseded_by=superseded_by, retracted=retracted
        )
        members.append((key, Member(facts, before, NEW)))
    return members


def _next_keys(conn: Connection, after: str) -> list[str]:
    keys = derived.work_cohorts.c.key
    query = select(keys).where(keys > after).order_by(keys).limit(COHORTS_AT_ONCE)
    return list(conn.execute(query).scalars())


def _members(
    conn: Connection, keys: list[str], fresh: Recent[str, RunFacts]
) -> Iterator[tuple[str, Member]]:
    """Every run of the cohorts, by cohort and digest, with its standing applied."""
    rows = conn.execute(_members_query(), {"keys": keys}).all()
    for row in sorted(rows, key=lambda row: (row.cohort_key, row.digest)):
        facts = fresh.get(row.digest) or facts_codec.decode(row.facts)
        standing = (row.new_superseded_by, row.new_retracted)
        if standing != (facts.superseded_by, facts.retracted):
            facts = replace(facts, superseded_by=standing[0], retracted=standing[1])
        before = (row.superseded_by, row.retracted, row.reasons)
        yield row.cohort_key, Member(facts, before, row.place)


def _members_query() -> Any:
    keys: Any = bindparam("keys", expanding=True)
    place = case((_is_published(RUNS.c.digest), PUBLISHED), else_=NEW)
    live = _with_facts(RUNS, derived.run_facts, place).where(
        RUNS.c.cohort_key.in_(keys),
        ~select(PENDING.c.digest).where(PENDING.c.digest == RUNS.c.digest).exists(),
    )
    waiting = _with_facts(PENDING, derived.pending_facts, literal(WAITING)).where(
        PENDING.c.cohort_key.in_(keys)
    )
    return union_all(live, waiting)


def _with_facts(runs: Any, facts: Any, place: Any) -> Any:
    """A run, its facts (those published where no new ones wait) and its new standing."""
    work = derived.work_runs
    decided = work.c.digest.is_not(None)
    published = derived.run_facts.alias("published_facts")
    text = facts.c.facts
    query = select(
        runs.c.cohort_key,
        runs.c.digest,
        runs.c.superseded_by,
        runs.c.retracted,
        runs.c.reasons,
        case((decided, work.c.superseded_by), else_=runs.c.superseded_by).label(
            "new_superseded_by"
        ),
        case((decided, work.c.retracted), else_=runs.c.retracted).label("new_retracted"),
        (func.coalesce(text, published.c.facts) if runs is PENDING else text).label("facts"),
        place.label("place"),
    )
    joined = runs.join(facts, facts.c.digest == runs.c.digest, isouter=runs is PENDING)
    if runs is PENDING:
        joined = joined.join(published, published.c.digest == runs.c.digest, isouter=True)
    return query.select_from(joined.join(work, work.c.digest == runs.c.digest, isouter=True))


def _write_standing(conn: Connection, cohort: list[Member], built: CohortDocuments) -> None:
    """Write what changed of the runs' standing: in place for new rows, else for later."""
    changes: dict[str, list[dict[str, Any]]] = {NEW: [], PUBLISHED: [], WAITING: []}
    for facts, before, place in cohort:
        reasons = built.reasons.get(facts.digest)
        text = json_text(list(reasons)) if reasons else None
        after = (facts.superseded_by, facts.retracted, text)
        if after != before:
            changes[place].append({"run": facts.digest, **dict(zip(STANDING, after, strict=True))})
    if changes[PUBLISHED]:
        _copy_to_pending(conn, [change["run"] for change in changes[PUBLISHED]])
    _update_standing(conn, RUNS, changes[NEW])
    _update_standing(conn, PENDING, changes[PUBLISHED] + changes[WAITING])


def _copy_to_pending(conn: Connection, digests: list[str]) -> None:
    names = [column.name for column in RUNS.columns]
    for part in bulk.chunks(digests, bulk.IN_CHUNK):
        rows = select(*(RUNS.c[name] for name in names)).where(RUNS.c.digest.in_(part))
        conn.execute(insert(PENDING).from_select(names, rows))


def _update_standing(conn: Connection, table: Any, changes: list[dict[str, Any]]) -> None:
    if changes:
        values: dict[str, Any] = {name: bindparam(name) for name in STANDING}
        conn.execute(
            update(table).where(table.c.digest == bindparam("run")).values(values), changes
        )


def _write_documents(conn: Connection, version: int, built: list[CohortDocuments]) -> None:
    shown = [one for one in built if one.cohort is not None]
    bulk.insert_rows(conn, derived.cohorts, [_cohort_tuple(version, one) for one in shown])
    bulk.insert_rows(
        conn,
        derived.entries,
        [_entry_tuple(version, entry) for one in shown for entry in one.entries],
    )
    bulk.insert_rows(
        conn,
        derived.record_events,
        [_event_tuple(version, one, event) for one in shown for event in one.events],
    )


def _cohort_tuple(version: int, built: CohortDocuments) -> tuple[Any, ...]:
    doc = built.cohort or {}
    device = doc["device"]
    return (
        built.key,
        version,
        doc["operation"],
        doc["shape_key"],
        _hardware(device),
        device["product_id"],
        device["family"],
        doc["timed_pass"],
        doc["profile"],
        doc["metric"],
        doc["entry_count"],
        doc["run_count"],
        _json(doc),
    )


def _entry_tuple(version: int, entry: dict[str, Any]) -> tuple[Any, ...]:
    return (
        entry["cohort_key"],
        version,
        entry["position"],
        entry["entry_key"],
        entry["run_digest"],
        entry["implementation"]["digest"],
        _json(entry),
    )


def _event_tuple(version: int, built: CohortDocuments, event: dict[str, Any]) -> tuple[Any, ...]:
    return (
        built.key,
        version,
        event["ordinal"],
        event["date"] or "",
        event["run_digest"],
        event["operation"],
        _hardware((built.cohort or {})["device"]),
        _json(event),
    )


def _hardware(device: dict[str, Any]) -> str:
    names = ("vendor", "product", "family", "architecture", "product_id", "label")
    return hardware_id(DeviceClass(**{name: device[name] for name in names}))


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
