"""Readers and small writers beside an import, and imports beside each other."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from kernelindex.catalog import Catalog, check, correct, import_records
from kernelindex.catalog.importing import Brought, RunReader, prepare, publish
from kernelindex.catalog.intake import Correction
from kernelindex.catalog.locking import import_lock
from kernelindex.errors import CatalogError
from tests.catalog.factories import World, make_snapshot


def make_retraction(digest: str) -> Correction:
    return Correction(action="retract", run_digest=digest, actor="ada", reason="odd")


def test_reader_and_small_writer_are_not_held_up_by_staging(catalog_url: str) -> None:
    world = World()
    first, second = world.row("a", 1000), world.row("b", 2000)
    with Catalog.open(catalog_url) as catalog, Catalog.open(catalog_url) as other:
        import_records(catalog, make_snapshot(), [first])
        seen: list[tuple[int, bool]] = []

        def rows():
            yield second
            said = correct(other, make_retraction(first.observation.run_digest))
            counts = len(other.runs().rows)
            seen.append((counts, said))

        report = import_records(catalog, make_snapshot("2"), rows())
        assert (report.added, seen) == (1, [(1, True)])
        assert [run.retracted for run in catalog.runs().rows if run.value == 1000] == ["odd"]
        assert check(catalog) == []


def test_import_judges_again_where_a_correction_came_between(catalog_url: str) -> None:
    """The correction is published after the cohort was judged and before it is."""
    world = World()
    first, second = world.row("a", 1000, key="k", stamp="1"), world.row("b", 2000)
    with Catalog.open(catalog_url) as catalog, Catalog.open(catalog_url) as other:
        import_records(catalog, make_snapshot(), [first])
        reader, nothing = RunReader(), Brought(newest={}, rows={})
        generation, _ = prepare(catalog, 1_000, {}, reader)
        correct(other, make_retraction(first.observation.run_digest))
        assert publish(catalog, 1_000, generation, nothing, []) is False
        import_records(catalog, make_snapshot("2"), [second])
        (cohort,) = catalog.cohorts()
        assert cohort.entry_count == 1
        assert check(catalog) == []


def test_second_import_waits_for_the_first(catalog_url: str) -> None:
    world = World()
    with Catalog.open(catalog_url) as catalog, Catalog.open(catalog_url) as other:
        with (
            import_lock(catalog),
            pytest.raises(CatalogError) as caught,
            import_lock(other, wait_s=0.05),
        ):
            pass
        assert caught.value.code == "catalog.busy"
        threads = [
            threading.Thread(
                target=import_records,
                args=(opened, make_snapshot(str(number)), [world.row(f"i{number}", 1000 * number)]),
            )
            for number, opened in ((1, catalog), (2, other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (cohort,) = catalog.cohorts()
        assert cohort.entry_count == 2
        assert check(catalog) == []


def test_a_thread_does_not_wait_for_itself(sqlite_url: str, tmp_path: Path) -> None:
    with Catalog.open(sqlite_url) as catalog, Catalog.create(f"sqlite:///{tmp_path}/b.db") as other:
        with catalog.writing(), pytest.raises(RuntimeError, match="inside another"):
            catalog.writing().__enter__()
        with catalog.writing(), other.writing():
            pass
        with catalog.writing():
            pass


def test_a_writer_gets_its_turn_between_two_transactions_of_another(sqlite_url: str) -> None:
    """SQLite's own waiting would look too seldom to meet the gaps."""
    begun, done = threading.Event(), threading.Event()

    def write_note() -> None:
        begun.wait()
        with Catalog.open(sqlite_url) as other, other.writing():
            done.set()

    writer = threading.Thread(target=write_note)
    writer.start()
    with Catalog.open(sqlite_url) as catalog:
        for _ in range(40):
            with catalog.writing():
                begun.set()
                time.sleep(0.05)
            if done.wait(0.002):
                break
        assert done.is_set()
    writer.join()
