"""The tables named here are those that the migrations make; importers do not hold writers up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from kernelindex import community
from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.intake import Row
from kernelindex.catalog.tables import truth
from kernelindex.community import REFUSALS, list_contributions, refusal
from kernelindex.community import database as tables
from tests.catalog.factories import World, make_snapshot
from tests.community.factories import Clock, make_key, send_note


@pytest.mark.parametrize("name", ["contributions", "audit", "keys", "sessions"])
def test_columns_are_those_of_the_migrations(name: str) -> None:
    ours = getattr(tables, name)
    theirs = truth.metadata.tables[ours.name]
    assert [column.name for column in ours.columns] == [column.name for column in theirs.columns]


def test_exports_never_hold_a_key_or_a_session() -> None:
    held = {table.name for table in (*truth.EXPORTED, *truth.COMMUNITY)}
    assert held & {"api_keys", "admin_sessions"} == set()
    assert {"community", "community_audit"} <= held


def test_exported_names_exist_and_are_sorted() -> None:
    assert all(hasattr(community, name) for name in community.__all__)


def test_a_code_outside_the_table_is_a_bug() -> None:
    with pytest.raises(KeyError):
        refusal("contribution.unheard_of", "x")
    assert all(400 <= one.status < 600 and one.title for one in REFUSALS.values())


def test_notes_are_written_while_an_import_reads(database: Catalog, clock: Clock) -> None:
    key = make_key(database, clock)
    begun, written = threading.Event(), threading.Event()

    def rows() -> Iterator[Row]:
        world = World()
        yield world.row("a", 1000, where="1")
        begun.set()
        assert written.wait(60)
        yield world.row("b", 2000, where="2")

    importer = threading.Thread(target=import_records, args=(database, make_snapshot(), rows()))
    importer.start()
    assert begun.wait(60)
    for number in range(5):
        send_note(database, clock, key, str(number))
    assert importer.is_alive()
    written.set()
    importer.join()
    assert len(list_contributions(database).items) == 5
    assert database.cohorts()[0].entry_count == 2


@pytest.mark.slow
def test_notes_wait_little_while_an_import_publishes(database: Catalog, clock: Clock) -> None:
    key = make_key(database, clock)
    world = World()
    rows = [world.row(f"k{n}", 1000 + n, where=str(n)) for n in range(2000)]
    importer = threading.Thread(target=import_records, args=(database, make_snapshot(), rows))
    importer.start()
    waits = []
    began = time.monotonic()
    while importer.is_alive():
        start = time.monotonic()
        clock.pass_s(70)
        send_note(database, clock, key, str(len(waits)))
        waits.append(time.monotonic() - start)
        time.sleep(0.01)
    assert len(waits) >= 5
    assert max(waits) < (time.monotonic() - began) / 2
