"""One open catalog: its engines, its transactions, and whether its schema is current."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Self

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from kernelindex.catalog import engines, versions
from kernelindex.catalog.locking import write_turn
from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.tables import truth
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

READ_LIMIT_S = 5.0
_DERIVED = Prepared(select(truth.state.c.value).where(truth.state.c.key == versions.DERIVED_KEY))
_held: ContextVar[tuple[Database, Connection] | None] = ContextVar("held", default=None)
"""The connection that a ``snapshot`` of this thread holds, with whose it is."""


class Database:
    """A database that holds a catalog; made by ``open`` or ``create``."""

    def __init__(self, url: str, *, read_limit_s: float = READ_LIMIT_S) -> None:
        self.url = engines.parse_url(url)
        self.read_limit_s = read_limit_s

    @classmethod
    def open(cls, url: str, *, read_limit_s: float = READ_LIMIT_S) -> Self:
        """Open a catalog that exists.

        Raises:
            CatalogError: ``catalog.missing``, ``catalog.schema``, ``catalog.stale``.
        """
        return cls(url, read_limit_s=read_limit_s)._checked()

    @classmethod
    def create(cls, url: str, *, read_limit_s: float = READ_LIMIT_S) -> Self:
        """Open a catalog, making or migrating its tables where needed.

        Raises:
            CatalogError: ``catalog.stale`` where derived rows are of another version.
        """
        from kernelindex.catalog.migrate import migrate

        opened = cls(url, read_limit_s=read_limit_s)
        if not opened.is_postgresql:
            engines.sqlite_path(opened.url).absolute().parent.mkdir(parents=True, exist_ok=True)
        migrate(opened.writer)
        return opened._checked()

    @property
    def is_postgresql(self) -> bool:
        """Whether the database is PostgreSQL; else it is SQLite."""
        return self.url.get_backend_name() == "postgresql"

    @cached_property
    def writer(self) -> Engine:
        """The engine that writes."""
        return engines.writing_engine(self.url)

    @cached_property
    def reader(self) -> Engine:
        """The engine that only reads, within the time limit."""
        return engines.reading_engine(self.url, self.read_limit_s)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction: one consistent state, stopped at the time limit.

        Within ``snapshot`` it is that one.

        Raises:
            CatalogError: ``catalog.read_time_limit``.
        """
        held = _held.get()
        if held is not None and held[0] is self:
            yield held[1]
            return
        with self.reader.connect() as conn:
            engines.set_deadline(conn, self.read_limit_s)
            try:
                yield conn
            except DBAPIError as error:
                raise self._explained(error) from error
            finally:
                engines.set_deadline(conn, None)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads of a block on one connection from one state, within one time limit.

        A page whose reads are of different states could contradict itself while an import
        publishes; and a connection and a transaction for each read cost more than most reads.
        Rows of another version's deriving, or dropped by its rebuild, are not read: those of
        this version are until a rebuild publishes.

        Raises:
            CatalogError: ``catalog.read_time_limit``, ``catalog.stale``.
        """
        with self.reading() as conn:
            _require_derived(conn)
            token = _held.set((self, conn))
            try:
                yield
            finally:
                _held.reset(token)

    @contextmanager
    def reading_long(self) -> Iterator[Connection]:
        """A transaction for exports and checks: one consistent state, no time limit."""
        with self.reader.connect() as conn:
            if self.is_postgresql:
                conn.exec_driver_sql("SET LOCAL statement_timeout = 0")
            yield conn

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that commits when its block ends; SQLite locks at its start.

        Raises:
            CatalogError: ``catalog.read_only`` where this user may only read.
        """
        with write_turn(self):
            try:
                with self.writer.begin() as conn:
                    yield conn
            except DBAPIError as error:
                if engines.is_read_only(error):
                    raise self._unwritable(error) from error
                raise

    def require_current(self) -> None:
        """Refuse a database without our tables, or with rows of another version.

        Raises:
            CatalogError: ``catalog.missing``, ``catalog.schema``, ``catalog.stale``.
        """
        self.require_schema()
        found = self._state(versions.DERIVED_KEY)
        if found != versions.derived_version():
            raise CatalogError(
                "The derived rows of this catalog were made by another version of the policy, "
                "the registry or the schema. Run: ki catalog rebuild",
                code="catalog.stale",
                found=found,
                wanted=versions.derived_version(),
            )

    def require_schema(self) -> None:
        """Refuse a database that is not there or whose truth tables are not current.

        Raises:
            CatalogError: ``catalog.missing``, ``catalog.schema``.
        """
        if not self.is_postgresql and not engines.sqlite_path(self.url).is_file():
            raise self._missing("There is no catalog at")
        try:
            with self.reader.connect() as conn:
                found = versions.schema_revision(conn) if inspect(conn).get_table_names() else None
        except DBAPIError as error:
            raise self._unreadable(error) from error
        if found is None:
            raise self._missing("The database holds no catalog:")
        if found != versions.SCHEMA_REVISION:
            raise CatalogError(
                f"The tables are at revision {found}, this version wants "
                f"{versions.SCHEMA_REVISION}. Run: ki catalog rebuild",
                code="catalog.schema",
            )

    def close(self) -> None:
        """Give back every connection."""
        for name in ("reader", "writer"):
            engine = self.__dict__.pop(name, None)
            if engine is not None:
                engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _checked(self) -> Self:
        try:
            self.require_current()
        except CatalogError:
            self.close()
            raise
        return self

    def _state(self, key: str) -> str | None:
        with self.reader.connect() as conn:
            query = select(truth.state.c.value).where(truth.state.c.key == key)
            return conn.execute(query).scalar_one_or_none()

    def _missing(self, what: str) -> CatalogError:
        shown = self.url.render_as_string(hide_password=True)
        return CatalogError(
            f"{what} {shown}. Make one by importing: ki import starter", code="catalog.missing"
        )

    def _unreadable(self, error: DBAPIError) -> CatalogError:
        shown = self.url.render_as_string(hide_password=True)
        advice = (
            "Is the server running, and does it take this user?"
            if self.is_postgresql
            else "Its readers write beside it while an import does: is the file readable and its"
            " folder writable? A copy without a -wal file can be read from anywhere."
        )
        return CatalogError(
            f"Cannot open the catalog {shown} ({str(error.orig).strip()}). {advice}",
            code="catalog.missing",
        )

    def _unwritable(self, error: DBAPIError) -> CatalogError:
        shown = self.url.render_as_string(hide_password=True)
        return CatalogError(
            f"Cannot write the catalog {shown} ({str(error.orig).strip()}): this user may only"
            " read it. Give it the right to write, or work on a copy.",
            code="catalog.read_only",
        )

    def _explained(self, error: DBAPIError) -> CatalogError | DBAPIError:
        words = str(error.orig)
        if "interrupted" in words or "statement timeout" in words:
            return CatalogError(
                f"The question took longer than {self.read_limit_s:g} s and was stopped; "
                "narrow it by a filter.",
                code="catalog.read_time_limit",
            )
        return error


def _require_derived(conn: Connection) -> None:
    """Refuse to read what another version of this code derived, or a rebuild has dropped."""
    rows = _DERIVED.rows(conn)
    found = rows[0].value if rows else ""
    if found != versions.derived_version():
        raise CatalogError(_OF_OTHERS if found else _DROPPED, code="catalog.stale")


_DROPPED = (
    "The catalog is being rebuilt from an older form of its tables; ask again in a minute. "
    "Where nothing rebuilds it any more, its operator runs: ki catalog rebuild"
)
_OF_OTHERS = (
    "The catalog was derived by another version of KernelIndex than the one that answers here. "
    "Its operator starts the site anew with that version, or runs with this one: ki catalog rebuild"
)
