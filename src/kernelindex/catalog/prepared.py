"""Reads that are compiled once and then asked of the driver itself.

A statement that SQLAlchemy executes costs 16 µs more than the same on the driver's cursor
(the aliases of a run: 19 against 3 µs), and about 50 µs more where a list is bound to it. A
run's page asks some fifteen, so that was a quarter of it. Only hot reads are worth this.
On PostgreSQL the server keeps them planned (``server_prepared``), for any values.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelindex.catalog import server_prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.engine import Dialect

    Sizes = tuple[tuple[str, int | None], ...]
    Read = tuple["Prepared", dict[str, Any]]

POSTGRESQL = "postgresql"


class _Value(NamedTuple):
    """Where one bound value comes from: a name, a place in a named list, or itself."""

    name: str | None
    place: int | None
    constant: Any

    def of(self, values: dict[str, Any]) -> Any:
        if self.name is None:
            return self.constant
        return values[self.name] if self.place is None else values[self.name][self.place]


class _Text(NamedTuple):
    """The statement in one dialect, for lists of certain sizes."""

    sql: str
    values: tuple[_Value, ...]

    def bind(self, values: dict[str, Any]) -> list[Any]:
        return [value.of(values) for value in self.values]


class Prepared:
    """A SELECT with bound names; those that are ``expanding`` take lists.

    Lists are filled up to a power of two with their last value, so that there are few
    texts, which the driver keeps prepared.
    """

    def __init__(self, statement: Any) -> None:
        self._statement = statement
        self._texts: dict[tuple[str, Sizes], _Text] = {}
        self._make: Callable[[Iterable[Any]], Any] | None = None

    def rows(self, conn: Connection, **values: Any) -> list[Any]:
        """All rows as named tuples, within the connection's transaction.

        Raises:
            DBAPIError: as SQLAlchemy would, such as for a time limit.
        """
        return rows_together(conn, (self, values))[0]

    def _asked(self, dialect: Dialect, values: dict[str, Any]) -> tuple[str, list[Any]]:
        """Text and values for the driver."""
        filled = {
            name: _filled(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        text = self._text(dialect, filled)
        return text.sql, text.bind(filled)

    def _named(self, names: list[str], rows: Iterable[Any]) -> list[Any]:
        if self._make is None:
            row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
            self._make = row._make
        return [self._make(row) for row in rows]

    def _text(self, dialect: Dialect, values: dict[str, Any]) -> _Text:
        sizes = tuple(
            (name, len(value) if isinstance(value, list) else None)
            for name, value in values.items()
        )
        held = self._texts.get((dialect.name, sizes))
        if held is None:
            held = self._texts[dialect.name, sizes] = _compile(self._statement, dialect, sizes)
        return held


def rows_together(conn: Connection, *reads: Read) -> list[list[Any]]:
    """The rows of reads that do not need each other's, on PostgreSQL for one wait.

    Raises:
        DBAPIError: as SQLAlchemy would, such as for a time limit.
    """
    if not conn.in_transaction():
        conn.begin()
    asked = [read._asked(conn.dialect, values) for read, values in reads]
    fetch = server_prepared.fetch if conn.dialect.name == POSTGRESQL else _fetch
    try:
        answers = fetch(conn, asked)
    except conn.dialect.loaded_dbapi.Error as error:
        text = "; ".join(sql for sql, _ in asked)
        raise server_prepared.as_sqlalchemy(error, text, conn) from error
    return [read._named(*answer) for (read, _), answer in zip(reads, answers, strict=True)]


def _compile(statement: Any, dialect: Dialect, sizes: Sizes) -> _Text:
    """The text of a statement; marks stand for values until it is known where they go."""
    marks = {
        name: _mark(name) if size is None else [_mark(name, n) for n in range(size)]
        for name, size in sizes
    }
    compiled = statement.compile(dialect=dialect)
    expanded = compiled.construct_expanded_state(marks)
    sources = {_mark(name): _Value(name, None, None) for name, _ in sizes}
    sources |= {
        _mark(name, n): _Value(name, n, None) for name, size in sizes for n in range(size or 0)
    }
    bound = expanded.parameters
    sql, names = expanded.statement, expanded.positiontup
    if dialect.name == POSTGRESQL:
        sql, names = _numbered(sql)
    return _Text(
        sql,
        tuple(
            sources.get(str(bound[name])) or _Value(None, None, bound[name]) for name in names or ()
        ),
    )


def _numbered(sql: str) -> tuple[str, list[str]]:
    """A text of psycopg with the server's marks, ``$1``, and the name that each stands for."""
    names: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        name = found["name"]
        return "%" if name is None else names.setdefault(name, f"${len(names) + 1}")

    return re.sub(r"%%|%\((?P<name>\w+)\)s", number, sql), list(names)


def _fetch(conn: Connection, asked: Sequence[tuple[str, list[Any]]]) -> list[tuple[Any, Any]]:
    """Column names and rows of each, by the driver's cursor."""
    cursor = conn.connection.cursor()
    try:
        answers = []
        for sql, values in asked:
            cursor.execute(sql, values)
            answers.append(([column[0] for column in cursor.description], cursor.fetchall()))
        return answers
    finally:
        cursor.close()


def _mark(name: str, place: int | None = None) -> str:
    return f"\0{name}" if place is None else f"\0{name}\0{place}"


def _filled(values: list[Any]) -> list[Any]:
    """The list up to the next power of two; nothing is equal to NULL, which fills an empty one."""
    last = values[-1] if values else None
    size = 1 << (len(values) - 1).bit_length() if values else 1
    return [*values, *[last] * (size - len(values))]
