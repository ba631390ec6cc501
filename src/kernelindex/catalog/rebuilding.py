"""Recreating every derived row from the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from kernelindex.catalog import bulk, heads, publishing, versions
from kernelindex.catalog.deriving import judge_touched, touch_cohorts
from kernelindex.catalog.importing import begin_change, clean_up, discard_unfinished, end_changes
from kernelindex.catalog.judge_context import newest_snapshots
from kernelindex.catalog.listings import refresh_listings
from kernelindex.catalog.locking import import_lock
from kernelindex.catalog.migrate import create_derived, drop_derived, set_derived_version, upgrade
from kernelindex.catalog.rederiving import observations_of
from kernelindex.catalog.run_reading import RunReader, write_runs
from kernelindex.catalog.stored import load_manifests
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.catalog.database import Database

RUNS_AT_ONCE = 500


def rebuild(catalog: Database, *, progress: Callable[[int], None] | None = None) -> int:
    """Drop and derive again everything that is not the truth; returns how many runs.

    Works on a catalog that is too old to open. Until it ends, opening it is refused.

    Raises:
        CatalogError: ``catalog.busy`` where an import is running.
    """
    with import_lock(catalog):
        with catalog.writing() as conn:
            upgrade(conn)
            drop_derived(conn)
            create_derived(conn)
            set_derived_version(conn, "")
        discard_unfinished(catalog)
        change = begin_change(catalog, "rebuild", "", "")
        reader = RunReader()
        count, missing = _read_runs(catalog, reader, progress)
        _judge_everything(catalog, change, reader)
        with catalog.writing() as conn:
            publishing.publish_derived(conn, change)
            publishing.set_underived(conn, missing)
            publishing.raise_generation(conn)
            set_derived_version(conn, versions.derived_version())
            end_changes(conn)
        clean_up(catalog)
    return count


def _read_runs(
    catalog: Database, reader: RunReader, progress: Callable[[int], None] | None
) -> tuple[int, list[str]]:
    """Facts and rows of every run; how many there are, and of which a part is missing."""
    table, count, after = truth.manifests, 0, ""
    missing: list[str] = []
    query = select(table.c.digest).where(table.c.kind == "BenchmarkRun")
    while True:
        with catalog.writing() as conn:
            page = query.where(table.c.digest > after).order_by(table.c.digest)
            digests = list(conn.execute(page.limit(RUNS_AT_ONCE)).scalars())
            if not digests:
                return count, missing
            runs = load_manifests(conn, digests)
            told = observations_of(conn, runs)
            write_runs(conn, reader.read_new(conn, [(run, told[run.digest]) for run in runs]))
            read = bulk.present(conn, [derived.run_facts.c.digest], digests)
        missing += [digest for digest in digests if digest not in read]
        count, after = count + len(digests), digests[-1]
        if progress is not None:
            progress(count)


def _judge_everything(catalog: Database, change: int, reader: RunReader) -> None:
    with catalog.writing() as conn:
        heads.find_standing(conn, everything=True)
        newest = newest_snapshots(conn)
        touch_cohorts(conn, everything=True, sources=set())
    judge_touched(catalog, change, newest, reader.fresh)
    refresh_listings(catalog, everything=True)
