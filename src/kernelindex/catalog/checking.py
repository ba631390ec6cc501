"""Looking for what must never be in a catalog: each finding has a code, all are listed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import select

from kernelindex.catalog import heads, versions
from kernelindex.catalog.checking_lists import faults_of_lists
from kernelindex.catalog.cohort_documents import build_documents
from kernelindex.catalog.deriving import published_members
from kernelindex.catalog.dumping import ROWS_AT_ONCE
from kernelindex.catalog.facts_codec import decode
from kernelindex.catalog.judge_context import ContextReader, newest_snapshots
from kernelindex.catalog.stored import build_manifest
from kernelindex.catalog.tables import derived, truth
from kernelindex.manifests import references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database

CODES = {
    "digest_mismatch": "a stored body does not hash to its digest",
    "missing_body": "a row names a body that is not there",
    "dangling_reference": "a manifest names one that is not in the catalog",
    "wrong_operation": "a run's workload and implementation are of different operations",
    "missing_run": "an observation, alias or correction names an object that is not here",
    "stale_rank": "a stored cohort or standing differs from what runs and corrections give",
    "stale_derived": "the derived rows are of another version of policy, registry or schema",
    "not_derived": "a run has no derived row although all its parts are here",
    "stale_list": "a list, search or facets lack what is here; ki catalog rebuild makes them anew",
}
OF_SOURCES = frozenset({"wrong_operation"})
"""What a source says and this catalog keeps as it was said: no fault of the catalog's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong: a code of ``CODES``, what it is about, and what was seen."""

    code: str
    subject: str
    text: str

    @property
    def is_fault(self) -> bool:
        """Whether the catalog is at fault; else it is what a source says."""
        return self.code not in OF_SOURCES


def check(catalog: Database) -> list[Finding]:
    """Everything found, by code and then subject; no fault among it in a sound catalog."""
    with catalog.reading_long() as conn:
        found = [
            *_bodies(conn),
            *_references(conn),
            *_names(conn),
            *_operations(conn),
            *_derived(conn),
            *_standings(conn),
            *_ranks(conn),
            *(Finding(code="stale_list", subject=s, text=t) for s, t in faults_of_lists(conn)),
        ]
    order = list(CODES)
    return sorted(found, key=lambda one: (order.index(one.code), one.subject, one.text))


def _bodies(conn: Connection) -> Iterator[Finding]:
    """Every body hashes to its digest, texts and artifacts alike."""
    for table in (truth.bodies, truth.artifact_bodies):
        for row in _stream(conn, select(table)):
            data = row.body if isinstance(row.body, bytes) else row.body.encode()
            seen = "sha256:" + hashlib.sha256(data).hexdigest()
            if seen != row.digest:
                yield Finding(code="digest_mismatch", subject=row.digest, text=f"body is {seen}")


def _references(conn: Connection) -> Iterator[Finding]:
    """Every manifest has a body, and what it names is here."""
    table, bodies = truth.manifests, truth.bodies
    query = select(table.c.digest, table.c.metadata, bodies.c.body).join(
        bodies, bodies.c.digest == table.c.digest, isouter=True
    )
    known = _known_digests(conn)
    for row in _stream(conn, query):
        if row.body is None:
            yield Finding(code="missing_body", subject=row.digest, text="no body")
            continue
        try:
            manifest = build_manifest(row.digest, row.body, row.metadata)
        except (orjson.JSONDecodeError, KeyError):
            continue
        for reference in references(manifest):
            if reference.digest not in known:
                text = f"{reference.path} names {reference.digest} ({reference.kind})"
                yield Finding(code="dangling_reference", subject=row.digest, text=text)


def _known_digests(conn: Connection) -> set[str]:
    """Digests of everything but runs: manifests name runs nowhere."""
    table = truth.manifests
    query = select(table.c.digest).where(table.c.kind.not_in(("BenchmarkRun", "ServingRun")))
    return set(conn.execute(query).scalars())


def _names(conn: Connection) -> Iterator[Finding]:
    """Observations, aliases, links and corrections are about objects that are here."""
    manifests = truth.manifests
    for table, column in (
        (truth.observations, truth.observations.c.run_digest),
        (truth.aliases, truth.aliases.c.digest),
        (truth.project_links, truth.project_links.c.implementation_digest),
        (truth.corrections, truth.corrections.c.run_digest),
    ):
        there = select(manifests.c.digest).where(manifests.c.digest == column)
        body = select(truth.artifacts.c.id).where(truth.artifacts.c.digest == column)
        missing = select(column).where(~there.exists(), ~body.exists()).distinct()
        for digest in conn.execute(missing).scalars():
            yield Finding(code="missing_run", subject=digest, text=f"named in {table.name}")
    rows, bodies = truth.observations, truth.bodies
    there = select(bodies.c.digest).where(bodies.c.digest == rows.c.row_digest)
    for row in conn.execute(select(rows.c.run_digest, rows.c.row_digest).where(~there.exists())):
        text = f"source row {row.row_digest} is not there"
        yield Finding(code="missing_body", subject=row.run_digest, text=text)


def _operations(conn: Connection) -> Iterator[Finding]:
    """A run's workload and implementation are of one operation."""
    for row in _stream(conn, select(derived.run_facts)):
        facts = decode(row.facts)
        if facts.operation_digest != facts.implementation_operation_digest:
            text = (
                f"workload {facts.workload_digest} is of {facts.operation_digest}, implementation "
                f"{facts.implementation_digest} of {facts.implementation_operation_digest}"
            )
            yield Finding(code="wrong_operation", subject=row.digest, text=text)


def _derived(conn: Connection) -> Iterator[Finding]:
    """Derived rows are of this version, and every run that can be derived is."""
    state = truth.state
    query = select(state.c.value).where(state.c.key == versions.DERIVED_KEY)
    found = conn.execute(query).scalar_one_or_none()
    if found != versions.derived_version():
        text = f"made by {found}; make them again with: ki catalog rebuild"
        yield Finding(code="stale_derived", subject="catalog", text=text)
    table = truth.manifests
    there = select(derived.runs.c.digest).where(derived.runs.c.digest == table.c.digest)
    noted = select(derived.underived.c.digest).where(derived.underived.c.digest == table.c.digest)
    query = select(table.c.digest).where(
        table.c.kind == "BenchmarkRun", ~there.exists(), ~noted.exists()
    )
    for digest in conn.execute(query).scalars():
        yield Finding(code="not_derived", subject=digest, text="run ki catalog rebuild")


def _standings(conn: Connection) -> Iterator[Finding]:
    """Every run is superseded and retracted as observations and corrections say."""
    runs = derived.runs
    marked = select(runs.c.digest).where(
        runs.c.superseded_by.is_not(None) | runs.c.retracted.is_not(None)
    )
    digests = set(conn.execute(marked).scalars()) | heads.contested_digests(conn)
    for digest in sorted(digests):
        row = conn.execute(
            select(runs.c.superseded_by, runs.c.retracted).where(runs.c.digest == digest)
        ).first()
        expected = heads.standing_of(conn, digest)
        if row is not None and tuple(row) != expected:
            text = f"stored as {tuple(row)}, is {expected} (superseded by, retracted)"
            yield Finding(code="stale_rank", subject=digest, text=text)


def _ranks(conn: Connection) -> Iterator[Finding]:
    """Every stored cohort, entry and event is what its runs give now."""
    context = ContextReader(newest_snapshots(conn), staged=False)
    keys = conn.execute(select(derived.runs.c.cohort_key).distinct()).scalars().all()
    for key in sorted(key for key in keys if key is not None):
        members = [member for _, member in published_members(conn, key, {})]
        if not members:
            continue
        shown, judge = context.prepare(conn, [member.facts for member in members])
        built = build_documents(key, [member.facts for member in members], judge, shown)
        for what, expected, table, order in (
            ("cohort", [built.cohort] if built.cohort else [], derived.cohorts, "key"),
            ("entries", built.entries, derived.entries, "position"),
            ("record events", built.events, derived.record_events, "ordinal"),
        ):
            if _stored(conn, table, key, order) != [_round(one) for one in expected]:
                yield Finding(code="stale_rank", subject=key, text=f"stored {what} differ")


def _stored(conn: Connection, table: Any, key: str, order: str) -> list[Any]:
    heads = derived.cohort_heads
    column = table.c.key if table is derived.cohorts else table.c.cohort_key
    query = (
        select(table.c.doc)
        .join(heads, (heads.c.key == column) & (heads.c.version == table.c.version))
        .where(column == key)
        .order_by(table.c[order])
    )
    return [orjson.loads(doc) for doc in conn.execute(query).scalars()]


def _round(doc: Any) -> Any:
    """A document as it reads back from its text."""
    return orjson.loads(orjson.dumps(doc))


def _stream(conn: Connection, query: Any) -> Iterator[Any]:
    with conn.execution_options(yield_per=ROWS_AT_ONCE).execute(query) as result:
        yield from result
