"""Importing: stage in committed batches, judge ahead, publish in one short transaction.

Killed at any step, an import leaves nothing visible (or all of it, once published); the
next one discards what lies around and starts again.
"""

from __future__ import annotations

import gc
import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from kernelindex.catalog import bulk, heads, publishing, row_tuples, statistics
from kernelindex.catalog.deriving import judge_touched, touch_cohorts
from kernelindex.catalog.evidence_levels import level_words
from kernelindex.catalog.intake import ImportReport
from kernelindex.catalog.judge_context import newest_snapshots
from kernelindex.catalog.listings import refresh_listings
from kernelindex.catalog.locking import import_lock
from kernelindex.catalog.rederiving import rederive
from kernelindex.catalog.run_reading import RunReader
from kernelindex.catalog.staging import Stager, count_becomes
from kernelindex.catalog.tables import truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlalchemy import Connection, Table

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.intake import Row, Skipped, Snapshot

FAILPOINT = "KI_CATALOG_FAILPOINT"
"""Names a step at which the process kills itself; for the crash tests."""
ATTEMPTS = 5
OPEN, PUBLISHED, DONE, DISCARDED = "open", "published", "done", "discarded"
"""States of a change: being prepared; visible; cleaned up after; never made visible."""


def import_records(
    catalog: Database,
    snapshot: Snapshot,
    records: Iterable[Row | Skipped],
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import everything a source yields; a second time changes nothing.

    ``progress`` is called with the rows read so far. ``dry_run`` does all but publish.

    Raises:
        CatalogError: ``catalog.busy`` where another import is running.
    """
    with import_lock(catalog), rare_collections():
        discard_unfinished(catalog)
        change = begin_change(catalog, "import", snapshot.source, snapshot.digest)
        known = stored_snapshot(catalog, snapshot)
        reader = RunReader()
        stager = Stager(catalog, change, known, reader)
        stager.stage(records, progress)
        with catalog.reading_long() as conn:
            becomes = count_becomes(conn)
        reach("staged")
        statistics.learn_staged(catalog, stager.counts["read"])
        brought = Brought.of_snapshot(known, stager.sources, stager.skipped)
        superseding = derive_and_publish(catalog, change, brought, reader, dry_run=dry_run)
        said = stager.refusals + ([] if dry_run else _said_of_evidence(catalog))
        if dry_run:
            discard_unfinished(catalog)
        else:
            clean_up(catalog)
            statistics.learn_published(catalog, stager.counts["read"])
    report = _report(stager, superseding, becomes, dry_run=dry_run)
    return replace(report, problems=tuple(said))


def _said_of_evidence(catalog: Database) -> list[str]:
    with catalog.reading_long() as conn:
        return level_words(conn)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage cycles rarely while importing.

    An import makes hundreds of thousands of long-lived objects and hardly a cycle; the
    collector's usual rhythm took 10 to 20 % of its time on the public export.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a change brings beside the staged rows, all of it small.

    ``newest`` is the snapshot date of each source it covers; ``rows`` by table.
    """

    newest: Mapping[str, str]
    rows: Mapping[Table, list[tuple[Any, ...]]]

    @classmethod
    def of_snapshot(
        cls, snapshot: Snapshot, sources: set[str], skipped: Mapping[str, int]
    ) -> Brought:
        """An import's: its snapshot, covering these sources, and what was not taken of it."""
        covered = [(source, snapshot.digest) for source in sorted(sources)]
        return cls(
            newest=dict.fromkeys(sources, snapshot.fetched_at[:10]),
            rows={
                truth.snapshots: [row_tuples.snapshot_row(snapshot)],
                truth.coverage: covered,
                truth.skips: row_tuples.skip_rows(snapshot, skipped),
            },
        )


def derive_and_publish(
    catalog: Database, change: int, brought: Brought, reader: RunReader, *, dry_run: bool = False
) -> int:
    """Judge what the staged rows touch and publish, again where another change came between.

    Returns how many runs take the place of another.
    """
    missing = rederive(catalog, reader)
    for attempt in range(ATTEMPTS):
        version = change if not attempt else begin_change(catalog, "import", "again", "")
        generation, superseding = prepare(catalog, version, brought.newest, reader)
        if dry_run or publish(catalog, version, generation, brought, missing):
            return superseding
    raise RuntimeError("other changes kept coming between")  # pragma: no cover


def prepare(
    catalog: Database, version: int, dates: Mapping[str, str], reader: RunReader
) -> tuple[int, int]:
    """Judge all touched cohorts and compute the lists; nothing of it shows yet.

    ``dates`` has the date of the snapshot that is brought, by source. Returns the
    generation this holds for, and how many runs take the place of another.
    """
    with catalog.writing() as conn:
        generation = publishing.read_generation(conn)
        heads.find_standing(conn)
        superseding = heads.count_superseding(conn)
        before = newest_snapshots(conn)
        newest = before | {s: max(date, before.get(s, "")) for s, date in dates.items()}
        changed = {s for s in dates if s in before and newest[s] != before[s]}
        touch_cohorts(conn, everything=False, sources=changed)
    reach("touched")
    judge_touched(catalog, version, newest, reader.fresh)
    reach("judged")
    refresh_listings(catalog, everything=False)
    reach("listed")
    return generation, superseding


def publish(
    catalog: Database, version: int, generation: int, brought: Brought, missing: list[str]
) -> bool:
    """Make everything visible at once; False where another change was published meanwhile."""
    with catalog.writing() as conn:
        if publishing.read_generation(conn, lock=True) != generation:
            return False
        for table, rows in brought.rows.items():
            bulk.insert_rows(conn, table, rows)
        publishing.publish_truth(conn)
        reach("published truth")
        publishing.publish_derived(conn, version)
        publishing.set_underived(conn, missing)
        publishing.raise_generation(conn)
        end_changes(conn)
        reach("publishing")
    reach("published")
    return True


def discard_unfinished(catalog: Database) -> None:
    """Remove what an import that did not finish left behind; none of it was visible.

    One that was published and then killed has only its scratch rows removed.
    """
    table = truth.changes
    with catalog.reading() as conn:
        states = set(conn.execute(select(table.c.state).where(table.c.state != DONE)).scalars())
    if not states - {DISCARDED}:
        return
    if OPEN in states:
        publishing.clear_working(catalog)
        publishing.drop_old_versions(catalog)
        publishing.drop_unpublished(catalog)
        with catalog.writing() as conn:
            conn.execute(update(table).where(table.c.state == OPEN).values(state=DISCARDED))
    clean_up(catalog)


def clean_up(catalog: Database) -> None:
    """Remove scratch rows and replaced versions of a published change."""
    publishing.clear_working(catalog)
    publishing.drop_old_versions(catalog)
    table = truth.changes
    with catalog.writing() as conn:
        conn.execute(update(table).where(table.c.state == PUBLISHED).values(state=DONE))


def begin_change(catalog: Database, action: str, source: str, detail: str) -> int:
    """Open a numbered change; its number is the version of what it writes ahead."""
    with catalog.writing() as conn:
        return insert_change(conn, action, source, detail)


def insert_change(
    conn: Connection, action: str, source: str, detail: str, *, state: str = OPEN
) -> int:
    """Note a numbered change within a transaction."""
    values: dict[str, Any] = {"action": action, "state": state, "source": source}
    statement = insert(truth.changes).values(**values, detail=detail, at=now_text())
    key = conn.execute(statement).inserted_primary_key
    assert key is not None
    return int(key[0])


def end_changes(conn: Connection) -> None:
    """Note that the open change is visible, with the attempts before it."""
    table = truth.changes
    conn.execute(update(table).where(table.c.state == OPEN).values(state=PUBLISHED))


def now_text() -> str:
    """The present instant, UTC to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def reach(step: str) -> None:
    """A named step of an import; the crash tests have the process killed at one."""
    if os.environ.get(FAILPOINT) == step:
        os.kill(os.getpid(), signal.SIGKILL)


def stored_snapshot(catalog: Database, snapshot: Snapshot) -> Snapshot:
    """The snapshot as first stored, if it was: importing again does not make it newer."""
    table = truth.snapshots
    query = select(table.c.fetched_at).where(
        table.c.source == snapshot.source,
        table.c.digest == snapshot.digest,
        table.c.parser_version == snapshot.parser_version,
    )
    with catalog.reading() as conn:
        found = conn.execute(query).scalar_one_or_none()
    return snapshot if found is None else replace(snapshot, fetched_at=found)


def _report(
    stager: Stager, superseding: int, becomes: dict[str, int], *, dry_run: bool
) -> ImportReport:
    counts = stager.counts
    return ImportReport(
        source=stager.snapshot.source,
        snapshot=stager.snapshot.digest,
        dry_run=dry_run,
        read=counts["read"],
        added=counts["added"] - superseding,
        existing=counts["existing"],
        superseding=superseding,
        skipped=dict(stager.skipped),
        becomes=becomes,
    )
