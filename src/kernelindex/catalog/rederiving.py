"""Runs whose facts must be read again because something beside their manifest changed.

That is the source that told of them (several did), the project an implementation is
linked to, a newer edition of an implementation's metadata, a bundle of evidence, or a part
that was missing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import delete, func, or_, select, union

from kernelindex.catalog import bulk
from kernelindex.catalog.deriving import STANDING
from kernelindex.catalog.heads import STAGED_OBSERVATIONS, told
from kernelindex.catalog.run_reading import RunReader, facts_row, run_row
from kernelindex.catalog.stored import load_manifests
from kernelindex.catalog.tables import derived, truth
from kernelindex.policy.reading import ObservationFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.run_reading import Read
    from kernelindex.manifests import Manifest

AT_ONCE = 200
STAGED_MANIFESTS = truth.STAGED["manifests"]
STAGED_LINKS = truth.STAGED["project_links"]
RUN_KIND = "BenchmarkRun"


def rederive(database: Database, reader: RunReader) -> list[str]:
    """Read again every run that needs it; returns those of which a part is still missing."""
    with database.writing() as conn:
        digests = sorted(conn.execute(_outdated()).scalars())
    missing = []
    for part in bulk.chunks(digests, AT_ONCE):
        with database.writing() as conn:
            missing += rederive_runs(conn, reader, list(part))
    return missing


def rederive_runs(conn: Connection, reader: RunReader, digests: list[str]) -> list[str]:
    """Read some runs again; returns those of which a part is missing."""
    runs = load_manifests(conn, digests, staged=True)
    told = observations_of(conn, runs)
    read = reader.read_all(conn, [(run, told[run.digest]) for run in runs])
    found = [one for one in read if one is not None]
    _replace(conn, reader, found)
    return sorted(set(digests) - {facts.digest for facts, _, _ in found})


def observations_of(conn: Connection, runs: Sequence[Manifest]) -> dict[str, ObservationFacts]:
    """What is told of each run: the source it counts under, and everything bound for it.

    Of several sources the one that the run names itself, else the first by name.
    """
    obs = told("of_runs")
    rows: dict[str, list[Any]] = defaultdict(list)
    for part in bulk.chunks([run.digest for run in runs], bulk.IN_CHUNK):
        query = select(obs.c.run_digest, obs.c.source, obs.c.bound)
        for row in conn.execute(query.where(obs.c.run_digest.in_(part))):
            rows[row.run_digest].append(row)
    return {run.digest: _told_together(run, rows[run.digest]) for run in runs}


def _told_together(run: Manifest, rows: list[Any]) -> ObservationFacts:
    native = run.document["spec"].get("sourceNative", {}).get("source")
    sources = {row.source for row in rows}
    source = native if native in sources or not sources else min(sources)
    bound = sorted({name for row in rows for name in orjson.loads(row.bound)})
    return ObservationFacts(source=source or "unstated", bound=tuple(bound))


def write_anew(conn: Connection, read: list[Read]) -> None:
    """Have the runs that read otherwise than their rows say wait for publishing."""
    stored = _stored_reading(conn, [facts.digest for facts, _, _ in read])
    changed = [one for one in read if stored.get(one[0].digest) != _reading(one)]
    bulk.insert_rows(conn, derived.pending_facts, [facts_row(one) for one in changed])
    bulk.insert_rows(conn, derived.pending_runs, [run_row(one) for one in changed])


def _reading(read: Read) -> tuple[Any, ...]:
    """What reading alone decides of a run's rows; its standing is judged."""
    return (*facts_row(read), *run_row(read)[: -len(STANDING)])


def _stored_reading(conn: Connection, digests: list[str]) -> dict[str, tuple[Any, ...]]:
    """The same of the rows there are."""
    runs, facts = derived.runs, derived.run_facts
    columns = [column for column in runs.columns if column.name not in STANDING]
    query = select(*facts.columns, *columns).join(runs, runs.c.digest == facts.c.digest)
    found: dict[str, tuple[Any, ...]] = {}
    for part in bulk.chunks(digests, bulk.IN_CHUNK):
        for row in conn.execute(query.where(facts.c.digest.in_(part))):
            found[row[0]] = tuple(row)
    return found


def _outdated() -> Any:
    return union(
        _told_differently(), _linked_anew(), _renamed(), _newly_evidenced(), *_never_read()
    )


def _newly_evidenced() -> Any:
    """Published runs of which a bundle arrives: its calibration may be new here."""
    staged = truth.STAGED["evidence_findings"]
    return select(staged.c.run_digest).join(
        truth.manifests, truth.manifests.c.digest == staged.c.run_digest
    )


def _told_differently() -> Any:
    obs = told("several")
    staged = select(STAGED_OBSERVATIONS.c.run_digest)
    telling = obs.c.source + "|" + obs.c.bound
    return (
        select(obs.c.run_digest)
        .join(derived.run_facts, derived.run_facts.c.digest == obs.c.run_digest)
        .where(obs.c.run_digest.in_(staged))
        .group_by(obs.c.run_digest)
        .having(func.count(telling.distinct()) > 1)
    )


def _linked_anew() -> Any:
    """Runs read under another project than the first by name of those now linked."""
    tables = (truth.project_links, STAGED_LINKS)
    linked = union(*(select(t.c.implementation_digest, t.c.project) for t in tables)).subquery()
    runs, facts = derived.runs, derived.run_facts
    first = (
        select(linked.c.implementation_digest, func.min(linked.c.project).label("project"))
        .where(linked.c.implementation_digest.in_(select(STAGED_LINKS.c.implementation_digest)))
        .group_by(linked.c.implementation_digest)
        .subquery("first_linked")
    )
    return (
        select(runs.c.digest)
        .join(first, first.c.implementation_digest == runs.c.implementation_digest)
        .join(facts, facts.c.digest == runs.c.digest)
        .where(facts.c.project != first.c.project)
    )


def _renamed() -> Any:
    """Runs of implementations whose metadata gets a newer edition that says otherwise."""
    old, new = truth.manifests, STAGED_MANIFESTS
    changed = (
        select(new.c.digest)
        .join(old, old.c.digest == new.c.digest)
        .where(
            new.c.kind == "ImplementationRevision",
            new.c.metadata != old.c.metadata,
            is_newer_edition(new, old),
        )
    )
    return select(derived.runs.c.digest).where(derived.runs.c.implementation_digest.in_(changed))


def is_newer_edition(new: Any, old: Any) -> Any:
    """Whether one row's metadata is shown rather than the other's."""
    return or_(
        new.c.stamp > old.c.stamp,
        (new.c.stamp == old.c.stamp) & (new.c.metadata > old.c.metadata),
    )


def _never_read() -> tuple[Any, Any]:
    staged = (
        select(STAGED_MANIFESTS.c.digest)
        .join(
            derived.run_facts, derived.run_facts.c.digest == STAGED_MANIFESTS.c.digest, isouter=True
        )
        .where(STAGED_MANIFESTS.c.kind == RUN_KIND, derived.run_facts.c.digest.is_(None))
    )
    return staged, select(derived.underived.c.digest)


def _replace(conn: Connection, reader: RunReader, read: list[Read]) -> None:
    """New runs in place; runs that are published already wait for publishing."""
    digests = [facts.digest for facts, _, _ in read]
    for digest in digests:
        reader.fresh.drop(digest)
    published = bulk.present(conn, [truth.manifests.c.digest], digests)
    for wait in (False, True):
        runs = derived.pending_runs if wait else derived.runs
        texts = derived.pending_facts if wait else derived.run_facts
        chosen = [one for one in read if (one[0].digest in published) == wait]
        for table in (runs, texts):
            conn.execute(delete(table).where(table.c.digest.in_([f.digest for f, _, _ in chosen])))
        bulk.insert_rows(conn, texts, [facts_row(one) for one in chosen])
        bulk.insert_rows(conn, runs, [run_row(one) for one in chosen])
