"""One import at a time, and a fair turn to write: locks that their holder's death releases.

SQLite: ``flock`` on a file beside the database. PostgreSQL: an advisory lock of a
session. Neither lock of an import is held against readers or small writers.

SQLite's own waiting looks at the lock up to every 100 ms, and an import leaves shorter
gaps than that: a note beside an import of the export waited up to 3.4 s, and 1.1 s on a
busier machine since every transaction takes its turn by ``flock``, whose waiters the
kernel wakes.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import text

from kernelindex.catalog.engines import sqlite_path
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kernelindex.catalog.database import Database

ADVISORY_KEY = 0x6B69_696D
POLL_S = 0.1
_mine = threading.local()
"""``held``: the databases this thread has the turn to write to."""


@contextmanager
def import_lock(database: Database, *, wait_s: float = 60.0) -> Iterator[None]:
    """Hold the right to import, waiting for another import to end.

    Raises:
        CatalogError: ``catalog.busy`` after ``wait_s`` seconds.
    """
    held = _postgresql_lock if database.is_postgresql else _sqlite_lock
    with held(database, wait_s):
        yield


@contextmanager
def _sqlite_lock(database: Database, wait_s: float) -> Iterator[None]:
    path = sqlite_path(database.url)
    handle = _open_lock(path.with_name(path.name + ".import-lock"), os.O_RDWR)
    try:
        _wait(lambda: _try_flock(handle), wait_s)
        yield
    finally:
        os.close(handle)


@contextmanager
def write_turn(database: Database) -> Iterator[None]:
    """Wait for the turn to write to a SQLite database; PostgreSQL needs none.

    Raises:
        CatalogError: ``catalog.read_only`` where the database's folder cannot be written.
        RuntimeError: where this thread is writing already, and would wait for itself.
    """
    if database.is_postgresql:
        yield
        return
    path = sqlite_path(database.url).absolute()
    held: set[Path] = _mine.__dict__.setdefault("held", set())
    if path in held:
        raise RuntimeError("a write transaction inside another one of the same thread")
    handle = _open_lock(path.with_name(path.name + ".write-lock"), os.O_RDONLY)
    held.add(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        held.remove(path)
        os.close(handle)


def _open_lock(path: Path, how: int) -> int:
    """The file of a lock, made where there is none."""
    try:
        return os.open(path, how | os.O_CREAT, 0o644)
    except OSError as error:
        raise CatalogError(
            f"Cannot write {path} ({error.strerror}): this catalog can only be read from here. "
            "Give its user the right to write its folder, or work on a copy.",
            code="catalog.read_only",
        ) from error


def _try_flock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _postgresql_lock(database: Database, wait_s: float) -> Iterator[None]:
    with database.writer.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        take = text("SELECT pg_try_advisory_lock(:key)")
        _wait(lambda: bool(conn.execute(take, {"key": ADVISORY_KEY}).scalar_one()), wait_s)
        try:
            yield
        finally:
            conn.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": ADVISORY_KEY})


def _wait(attempt: Callable[[], bool], wait_s: float) -> None:
    end = time.monotonic() + wait_s
    while not attempt():
        if time.monotonic() > end:
            raise CatalogError(
                f"Another import into this catalog is running since over {wait_s:g} s. "
                "Wait for it to end and run this again.",
                code="catalog.busy",
            )
        time.sleep(POLL_S)
