"""Statements that a PostgreSQL server keeps prepared, asked through libpq itself.

psycopg's cursor takes 0.08 ms a statement beside the server's work, libpq under it 0.03; and
psycopg forgets what is prepared with each ROLLBACK, so that every statement of every request
was planned again (10.6 ms for a run's dossier, 5.0 without that).

Statements that do not need each other's answers are sent together, in libpq's pipeline mode,
and wait once: a wait takes as long as a light statement. BEGIN goes with the first of them.
"""

from __future__ import annotations

import itertools
import select
import struct
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    Decode = Callable[[bytes], Any]
    Asked = tuple[str, Sequence[Any]]
    Answer = tuple[list[str], list[list[Any]]]

BEGIN_DUE = "begin due"
BINARY = 1
CONNECTION_OK = 0
TUPLES_OK = 2
NAMES = itertools.count()
"""Names are never used twice, so that none can mean another statement."""


def _integer(value: bytes) -> int:
    return int.from_bytes(value, "big", signed=True)


def _double(value: bytes) -> float:
    found: float = struct.unpack("!d", value)[0]
    return found


DECODERS: dict[int, Decode] = {
    16: lambda value: value == b"\1",
    17: bytes,
    20: _integer,
    21: _integer,
    23: _integer,
    701: _double,
    **dict.fromkeys((19, 25, 1042, 1043), bytes.decode),
}
"""By the type's OID: boolean, bytea, bigint, smallint, integer, double, and kinds of text."""


def begin(conn: Connection) -> None:
    """Note that BEGIN is due, which goes with the first statement.

    The connection's options say read-only and one state.
    """
    conn.connection.info[BEGIN_DUE] = True


def begin_if_due(conn: Connection) -> None:
    """Send BEGIN where it is due, before a statement that others send.

    Raises:
        DBAPIError: where the server is gone.
    """
    if not conn.connection.info.pop(BEGIN_DUE, False):
        return
    try:
        _checked(_libpq(conn).exec_(b"BEGIN"))
    except conn.dialect.loaded_dbapi.Error as error:
        raise as_sqlalchemy(error, "BEGIN", conn) from error


def end(conn: Connection) -> None:
    """End what was only read, in a state of failure too, before anybody rolls it back."""
    unbegun = conn.connection.info.pop(BEGIN_DUE, False)
    if not unbegun and is_alive(conn.connection.driver_connection):
        _libpq(conn).exec_(b"COMMIT")


def is_alive(driver: Any) -> bool:
    """Whether nothing has said yet that the server has hung up."""
    return bool(driver.pgconn.status == CONNECTION_OK)


def fetch(conn: Connection, asked: Sequence[Asked]) -> list[Answer]:
    """Column names and rows of statements with ``$1`` marks; all are sent before any is awaited.

    Raises:
        psycopg.Error: what the server said; for a NUL character, which no text of it holds.
        TypeError: for a column of a type that has no decoder; the statement should cast it.
    """
    pgconn = _libpq(conn)
    encoded = [(sql, [_encoded(one) for one in values]) for sql, values in asked]
    named = [(_name_of(conn, sql), values) for sql, values in encoded]
    begins = conn.connection.info.pop(BEGIN_DUE, False)
    if len(named) > 1 or begins:
        return [_answer(result) for result in _together(pgconn, named, begins=begins)]
    name, values = named[0]
    return [_answer(_checked(pgconn.exec_prepared(name, values, None, BINARY)))]


def _name_of(conn: Connection, sql: str) -> bytes:
    """The statement's name on this connection, prepared where it is new."""
    names: dict[str, bytes] = conn.connection.info.setdefault("prepared", {})
    name = names.get(sql)
    if name is None:
        begin_if_due(conn)
        name = b"ki_%d" % next(NAMES)
        _checked(_libpq(conn).prepare(name, sql.encode()))
        names[sql] = name
    return name


def _together(pgconn: Any, named: Sequence[tuple[bytes, list[Any]]], *, begins: bool) -> list[Any]:
    """The results of statements sent at once, after BEGIN or not; the first that failed raises."""
    pgconn.enter_pipeline_mode()
    try:
        if begins:
            pgconn.send_query_params(b"BEGIN", None)
        for name, values in named:
            pgconn.send_query_prepared(name, values, None, BINARY)
        pgconn.pipeline_sync()
        while pgconn.flush():
            _await(pgconn, select.POLLIN | select.POLLOUT)
        results = [_next_result(pgconn) for _ in range(begins + len(named))]
        pgconn.get_result()  # the end of all
    finally:
        if pgconn.status == CONNECTION_OK:
            pgconn.exit_pipeline_mode()
    for result in results:
        _checked(result)
    return results[begins:]


def _next_result(pgconn: Any) -> Any:
    """One statement's result; other threads run while it is awaited."""
    while pgconn.is_busy():
        _await(pgconn, select.POLLIN)
    result = pgconn.get_result()
    pgconn.get_result()  # nothing more of this statement
    return result


def _await(pgconn: Any, events: int) -> None:
    """Wait for the server to send, or to take, more; read what it sent."""
    waiting = select.poll()
    waiting.register(pgconn.socket, events)
    waiting.poll()
    pgconn.consume_input()


def _answer(result: Any) -> Answer:
    columns = range(result.nfields)
    decoders = [_decoder(result.ftype(column)) for column in columns]
    rows = [
        [
            None if (value := result.get_value(row, column)) is None else decode(value)
            for column, decode in enumerate(decoders)
        ]
        for row in range(result.ntuples)
    ]
    return [(result.fname(column) or b"").decode() for column in columns], rows


def _libpq(conn: Connection) -> Any:
    driver: Any = conn.connection.driver_connection
    return driver.pgconn


def _checked(result: Any) -> Any:
    if result.status <= TUPLES_OK:
        return result
    from psycopg import errors

    raise errors.error_from_result(result)


def _encoded(value: Any) -> bytes | None:
    """A value as text; statements say by a cast what it is."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return b"\\x" + value.hex().encode()
    text = str(value)
    if "\0" in text:
        from psycopg import DataError

        raise DataError("PostgreSQL text cannot contain NUL (0x00) bytes")
    return text.encode()


def as_sqlalchemy(error: Exception, sql: str, conn: Connection) -> BaseException:
    """The error as SQLAlchemy would raise it, which readers handle; values are not in it."""
    return DBAPIError.instance(
        sql,
        None,
        error,
        conn.dialect.loaded_dbapi.Error,
        hide_parameters=True,
        dialect=conn.dialect,
    )


def _decoder(oid: int) -> Decode:
    found = DECODERS.get(oid)
    if found is None:
        raise TypeError(f"a column of PostgreSQL type {oid} has no decoder; cast it in the SELECT")
    return found
