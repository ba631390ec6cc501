"""Many rows at once: compiled once for the dialect, sent as tuples.

SQLAlchemy's own executemany spends about 5 us a value on processing that plain text and
numbers do not need; an import sends some 200,000 rows. To PostgreSQL they are copied, by way
of a temporary table, since COPY itself knows no ON CONFLICT: a sixth of the time of an import
of the public export went into psycopg's executemany.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select, union
from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from sqlalchemy import Column, Connection, Table

    Rows = Sequence[Sequence[Any]]

IN_CHUNK = 500
LEAST_COPIED = 50
"""Rows for which the three further statements of a copy pay."""


def insert_rows(conn: Connection, table: Table, rows: Rows) -> None:
    """Insert full rows in the order of the table's columns; rows already there stay."""
    insert_columns(conn, table, tuple(column.name for column in table.columns), rows)


def insert_columns(conn: Connection, table: Table, columns: tuple[str, ...], rows: Rows) -> None:
    """Insert rows that give only ``columns``; rows already there stay."""
    if conn.dialect.name == "postgresql" and len(rows) >= LEAST_COPIED:
        _copy_rows(conn, table, columns, rows)
    elif rows:
        conn.exec_driver_sql(_insert_sql(table, columns, conn.dialect.name), [*map(tuple, rows)])


def _copy_rows(conn: Connection, table: Table, columns: tuple[str, ...], rows: Rows) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    waiting = f'"copied_{len(columns)}_{table.name}"'
    conn.exec_driver_sql(
        f"CREATE TEMPORARY TABLE IF NOT EXISTS {waiting} ON COMMIT DELETE ROWS AS "
        f'SELECT {names} FROM "{table.name}" WITH NO DATA'
    )
    cursor: Any = conn.connection.cursor()
    with cursor, cursor.copy(f"COPY {waiting} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    conn.exec_driver_sql(
        f'INSERT INTO "{table.name}" ({names}) SELECT {names} FROM {waiting} ON CONFLICT DO NOTHING'
    )
    conn.exec_driver_sql(f"TRUNCATE {waiting}")


@lru_cache(maxsize=128)
def _insert_sql(table: Table, columns: tuple[str, ...], dialect: str) -> str:
    mark = "%s" if dialect == "postgresql" else "?"
    quoted = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join([mark] * len(columns))
    return f'INSERT INTO "{table.name}" ({quoted}) VALUES ({marks}) ON CONFLICT DO NOTHING'


def insert_from(
    conn: Connection, target: Table, source: Table, *, update: tuple[str, ...] = ()
) -> int:
    """Set-based INSERT...SELECT of all columns of ``target``; rows already there stay.

    ``update`` names columns that are overwritten in rows already there. Ordered by the
    primary key, so that the target's index grows in order. Returns the rows changed.
    """
    columns = [column.name for column in target.columns]
    key = [source.c[column.name] for column in target.primary_key.columns]
    rows = select(*(source.c[name] for name in columns)).order_by(*key)
    if conn.dialect.name == "postgresql":
        statement: Any = postgresql.insert(target)
    else:
        statement = sqlite.insert(target)
        rows = rows.where(source.c[columns[0]].is_not(None))  # SQLite parses ON CONFLICT only so
    statement = statement.from_select(columns, rows)
    if update:
        changes = {name: statement.excluded[name] for name in update}
        statement = statement.on_conflict_do_update(
            index_elements=[*target.primary_key], set_=changes
        )
    else:
        statement = statement.on_conflict_do_nothing()
    return int(conn.execute(statement).rowcount)


def present(conn: Connection, columns: Sequence[Column[Any]], values: Collection[Any]) -> set[Any]:
    """Which of ``values`` occur in any of ``columns`` (one of each table looked at)."""
    found: set[Any] = set()
    queries = [
        select(c.label("value")).where(c.in_(bindparam("values", expanding=True))) for c in columns
    ]
    query = union(*queries) if len(queries) > 1 else queries[0]
    for part in chunks(list(values), IN_CHUNK):
        found.update(conn.execute(query, {"values": part}).scalars())
    return found


def chunks(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """``values`` in runs of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def batches(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """A stream in lists of ``size``, the last one shorter."""
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
