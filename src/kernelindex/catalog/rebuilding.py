"""Deriving everything from the truth again, beside readers who go on with what was derived.

What is new waits where an import's does: runs that read otherwise in ``pending_runs``, groups
under a version that nothing points at, lists in their twins. One transaction publishes all of
it, so that a reader sees the catalog before or after and nothing between. That needs derived
tables of the form this version writes. Tables of another form are dropped first; until they
are filled again whoever asks is told to come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from kernelindex.catalog import bulk, heads, publishing, statistics, versions
from kernelindex.catalog.deriving import judge_touched, touch_cohorts
from kernelindex.catalog.importing import (
    ATTEMPTS,
    begin_change,
    clean_up,
    discard_unfinished,
    end_changes,
    rare_collections,
    reach,
)
from kernelindex.catalog.judge_context import newest_snapshots
from kernelindex.catalog.listings import publish_listings_anew, refresh_listings
from kernelindex.catalog.locking import import_lock
from kernelindex.catalog.migrate import (
    create_derived,
    drop_derived,
    has_current_form,
    set_derived_version,
    upgrade,
)
from kernelindex.catalog.rederiving import observations_of, write_anew
from kernelindex.catalog.run_reading import RunReader
from kernelindex.catalog.stored import load_manifests
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.catalog.database import Database

RUNS_AT_ONCE = 500


def rebuild(catalog: Database, *, progress: Callable[[int], None] | None = None) -> int:
    """Derive again everything that is not the truth; returns how many runs.

    Works on a catalog that is too old to open. Killed, it leaves what was there before.

    Raises:
        CatalogError: ``catalog.busy`` where an import is running.
    """
    with import_lock(catalog), rare_collections():
        _prepare_tables(catalog)
        discard_unfinished(catalog)
        change = begin_change(catalog, "rebuild", "", "")
        reader = RunReader()
        count, missing = _read_runs(catalog, reader, progress)
        _drop_strays(catalog, missing)
        statistics.learn_waiting(catalog, count)
        reach("read again")
        _judge_and_publish(catalog, change, reader, missing)
        clean_up(catalog)
        publishing.drop_orphans(catalog)
        statistics.learn_published(catalog, count)
    return count


def _prepare_tables(catalog: Database) -> None:
    """Migrate the truth; derived tables of another form give way to empty ones."""
    with catalog.writing() as conn:
        upgrade(conn)
        if has_current_form(conn):
            return
        drop_derived(conn)
        create_derived(conn)
        set_derived_version(conn, "")


def _read_runs(
    catalog: Database, reader: RunReader, progress: Callable[[int], None] | None
) -> tuple[int, list[str]]:
    """Read every run; how many there are, and of which a part is missing.

    What reads as before is left as it is.
    """
    table, count, after = truth.manifests, 0, ""
    missing: list[str] = []
    query = select(table.c.digest).where(table.c.kind == "BenchmarkRun").order_by(table.c.digest)
    while True:
        with catalog.reading_long() as conn:
            page = query.where(table.c.digest > after).limit(RUNS_AT_ONCE)
            digests = list(conn.execute(page).scalars())
            if not digests:
                return count, missing
            runs = load_manifests(conn, digests)
            told = observations_of(conn, runs)
            pairs = [(run, told[run.digest]) for run in runs]
            read = [one for one in reader.read_all(conn, pairs) if one is not None]
        with catalog.writing() as conn:
            write_anew(conn, read)
        for facts, _, _ in read:
            reader.fresh.put(facts.digest, facts)
        missing += sorted(set(digests) - {facts.digest for facts, _, _ in read})
        count, after = count + len(digests), digests[-1]
        if progress is not None:
            progress(count)


def _drop_strays(catalog: Database, missing: list[str]) -> None:
    """Rows of runs that cannot be read any more, which no list may count."""
    for table in (derived.runs, derived.run_facts):
        for part in bulk.chunks(missing, bulk.IN_CHUNK):
            with catalog.writing() as conn:
                conn.execute(delete(table).where(table.c.digest.in_(part)))
    publishing.drop_unpublished_runs(catalog)


def _judge_and_publish(
    catalog: Database, change: int, reader: RunReader, missing: list[str]
) -> None:
    """Judge everything and publish, again where another change came between."""
    for attempt in range(ATTEMPTS):
        version = change if not attempt else begin_change(catalog, "rebuild", "again", "")
        generation = _judge_everything(catalog, version, reader)
        if _publish(catalog, version, generation, missing):
            return
    raise RuntimeError("other changes kept coming between")  # pragma: no cover


def _judge_everything(catalog: Database, version: int, reader: RunReader) -> int:
    """Judge every group and compute every list; returns the generation this holds for."""
    with catalog.writing() as conn:
        generation = publishing.read_generation(conn)
        heads.find_standing(conn, everything=True)
        newest = newest_snapshots(conn)
        touch_cohorts(conn, everything=True, sources=set())
    judge_touched(catalog, version, newest, reader.fresh)
    reach("judged again")
    refresh_listings(catalog, everything=True)
    reach("listed again")
    return generation


def _publish(catalog: Database, version: int, generation: int, missing: list[str]) -> bool:
    """Show everything at once; False where another change was published meanwhile."""
    with catalog.writing() as conn:
        if publishing.read_generation(conn, lock=True) != generation:
            return False
        conn.execute(derived.cohort_heads.delete())
        publishing.publish_heads(conn, version)
        publishing.publish_pending_runs(conn)
        publish_listings_anew(conn)
        publishing.set_underived(conn, missing)
        publishing.raise_generation(conn)
        set_derived_version(conn, versions.derived_version())
        end_changes(conn)
        reach("publishing again")
    return True
