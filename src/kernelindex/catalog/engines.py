"""Connections to the database: one for reading, one for writing, on either dialect.

SQLite: WAL, a busy timeout, and BEGIN sent by us. Python's driver would open
transactions only before writes and commit behind our back around DDL, so its own
handling is switched off (``isolation_level = None``) and SQLAlchemy's ``begin`` event
sends ``BEGIN`` for readers and ``BEGIN IMMEDIATE`` for writers: a writer then waits for
the lock at the start and never fails half way with a stale snapshot.
PostgreSQL: reading connections are read-only by default, each transaction sees one state,
and they carry the statement limit. Transactions are begun and ended by us, since psycopg
drops all that is prepared with each ROLLBACK.
"""

from __future__ import annotations

import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, InvalidatePoolError

from kernelindex.catalog import server_prepared
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL
    from sqlalchemy.exc import DBAPIError

BUSY_TIMEOUT_MS = 60_000
DENIED = ("42501", "25006")
"""PostgreSQL's codes of a missing right and of a server or transaction that only reads."""
HOT = "hot"
"""The execution option of a statement that is asked often and reads by an index."""
READERS = 5
PROGRESS_STEPS = 20_000
"""Virtual machine steps of SQLite between two looks at the clock, about 0.2 ms."""
WRITER_CACHE_KIB = 16_384
"""Four times as much took 80 MB more, half of it by sorts, and no less time."""
READER_CACHE_KIB = 8_192
"""5 % less time for distinct runs than SQLite's default of 2 MB; 32 MB are not faster still."""
PAGE_BYTES = 8_192
"""Three runs' facts (2.4 kB each) share such a page; of SQLite's default each wastes 40 %."""
CHECKPOINT_PAGES = 4_096
"""32 MiB of log: with SQLite's default of 4 MiB an import of the export syncs 40 times."""


class Deadline:
    """When the statement now running on one SQLite connection must have ended."""

    def __init__(self) -> None:
        self.at: float | None = None

    def passed(self) -> int:
        """1 where SQLite should stop; called by its progress handler."""
        return int(self.at is not None and time.monotonic() > self.at)


def parse_url(text: str) -> URL:
    """The database URL, refused where it is neither a SQLite file nor PostgreSQL.

    Raises:
        CatalogError: ``catalog.url``; ``catalog.driver`` where PostgreSQL's is not installed.
    """
    try:
        url = make_url(text)
    except ArgumentError:
        raise CatalogError(
            f"{text!r} is not a database URL. {_WANTED}", code="catalog.url"
        ) from None
    if url.get_backend_name() == "postgresql":
        if find_spec("psycopg") is None:
            raise CatalogError(_NO_DRIVER, code="catalog.driver")
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"}:
        raise CatalogError(f"{text!r} cannot hold a catalog. {_WANTED}", code="catalog.url")
    return url


_NO_DRIVER = "PostgreSQL's driver is not installed: pip install 'kernelindex[postgresql]'"
_WANTED = "Wanted: sqlite:///path/to/ki.db or postgresql+psycopg://user@host/database"


def sqlite_path(url: URL) -> Path:
    """The file of a SQLite URL."""
    return Path(str(url.database))


def writing_engine(url: URL) -> Engine:
    """An engine whose transactions write."""
    if url.get_backend_name() == "postgresql":
        return create_engine(url, pool_size=2, hide_parameters=True)
    engine = create_engine(
        url, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}, pool_size=2, hide_parameters=True
    )
    event.listen(engine, "connect", _prepare_sqlite_writer)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def reading_engine(url: URL, limit_s: float) -> Engine:
    """An engine that cannot write and whose statements end after ``limit_s`` seconds."""
    if url.get_backend_name() == "postgresql":
        return _postgresql_reader(url, limit_s)
    path = sqlite_path(url).absolute()
    query = "mode=ro&immutable=1" if _is_frozen(path) else "mode=ro"
    engine = create_engine(
        url.set(database=f"file:{path}?{query}", query={"uri": "true"}),
        connect_args={"timeout": BUSY_TIMEOUT_MS / 1000, "check_same_thread": False},
        pool_size=READERS,
        pool_use_lifo=True,  # the connection used last has the warmest cache; the rest stay small
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare_sqlite_reader)
    event.listen(engine, "begin", _begin)
    _follow_file(engine, path)
    return engine


def _is_frozen(path: Path) -> bool:
    """Whether nobody can write beside the file, as SQLite's readers of a log must, nor has.

    It is then read as a file that never changes.
    """
    log = path.with_name(f"{path.name}-wal")
    written = log.exists() and log.stat().st_size > 0
    return not os.access(path.parent, os.W_OK) and not written


def _follow_file(engine: Engine, path: Path) -> None:
    """Have a connection whose file was replaced by another of its name opened again.

    Without it a server went on answering from the file that was there when it started.
    """

    def note(_dbapi: Any, record: Any) -> None:
        record.info["file"] = _identity(path)

    def compare(_dbapi: Any, record: Any, _proxy: Any) -> None:
        found = _identity(path)
        if found is not None and record.info["file"] != found:
            raise InvalidatePoolError(f"another file is at {path}")

    event.listen(engine, "connect", note)
    event.listen(engine, "checkout", compare)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _postgresql_reader(url: URL, limit_s: float) -> Engine:
    settings = {
        "default_transaction_read_only": "on",
        "default_transaction_isolation": r"repeatable\ read",
        "statement_timeout": str(int(limit_s * 1000)),
        "plan_cache_mode": "force_generic_plan",  # of what is prepared: planning cost the most
        "jit": "off",  # no read runs long enough to be worth compiling
    }
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    engine = create_engine(
        url,
        connect_args={"options": options},
        pool_size=READERS,
        pool_use_lifo=True,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare_postgresql_reader)
    event.listen(engine, "checkout", _refuse_dead)
    event.listen(engine, "begin", server_prepared.begin)
    event.listen(engine, "rollback", server_prepared.end)
    event.listen(engine, "do_execute", _execute_on_postgresql)
    return engine


def _prepare_postgresql_reader(dbapi: Any, _record: Any) -> None:
    dbapi.autocommit = True  # transactions are begun by us


def _refuse_dead(dbapi: Any, _record: Any, _proxy: Any) -> None:
    if not server_prepared.is_alive(dbapi):
        raise InvalidatePoolError("the server hung up on one, so the others are gone, too")


def _execute_on_postgresql(cursor: Any, statement: str, values: Any, context: Any) -> bool:
    """Keep a plan for any values of hot reads alone; lists by rare filters want their own."""
    if context.root_connection.in_transaction():
        server_prepared.begin_if_due(context.root_connection)
    if hasattr(cursor, "scrollable"):  # a cursor on the server, which prepares nothing
        return False
    cursor.execute(statement, values, prepare=bool(context.execution_options.get(HOT)))
    return True


def is_read_only(error: DBAPIError) -> bool:
    """Whether a statement failed because this user, or the whole database, may only be read."""
    said = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorname", "")
    return said in DENIED or str(said).startswith("SQLITE_READONLY")


def set_deadline(conn: Connection, limit_s: float | None) -> None:
    """Bound what runs on a SQLite reading connection from now on."""
    deadline = conn.connection.info.get("deadline")
    if isinstance(deadline, Deadline):
        deadline.at = None if limit_s is None else time.monotonic() + limit_s


def _prepare_sqlite_writer(dbapi: Any, _record: Any) -> None:
    dbapi.isolation_level = None
    for pragma in (
        f"page_size = {PAGE_BYTES}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        f"cache_size = -{WRITER_CACHE_KIB}",
        f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
    ):
        dbapi.execute(f"PRAGMA {pragma}")


def _prepare_sqlite_reader(dbapi: Any, record: Any) -> None:
    dbapi.isolation_level = None
    dbapi.execute("PRAGMA query_only = ON")
    dbapi.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
    deadline = Deadline()
    record.info["deadline"] = deadline
    dbapi.set_progress_handler(deadline.passed, PROGRESS_STEPS)


def _begin(conn: Connection) -> None:
    """Begin on the driver's connection: a reader begins for each request."""
    driver: Any = conn.connection.driver_connection
    driver.execute("BEGIN")


def _begin_immediate(conn: Connection) -> None:
    conn.exec_driver_sql("BEGIN IMMEDIATE")
