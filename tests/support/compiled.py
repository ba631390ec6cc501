"""Statements compiled once for all SQLite catalogs of a process: tests open hundreds of them.

SQLAlchemy keeps what it compiled for each engine, so a test that opens a catalog compiled
all it asks anew: a tenth of a second for each import, a third of some folders' time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

_COMPILED: LRUCache[Any, Any] = LRUCache(2_000)


def share_compiled() -> None:
    """Have all engines on SQLite, which compile alike, look in one place."""
    dialect: Any = SQLiteDialect_pysqlite
    dialect.__eq__ = lambda self, other: type(self) is type(other)
    dialect.__hash__ = lambda self: hash(type(self))
    event.listen(Engine, "engine_connect", _look_there)


def _look_there(conn: Connection) -> None:
    if conn.dialect.name == "sqlite":
        conn.execution_options(compiled_cache=_COMPILED)
