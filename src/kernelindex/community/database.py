"""What this package needs of a database, and the tables it uses there.

The catalog beside us owns the database and migrates its tables (``catalog.tables.truth``);
neither package imports the other. A caller passes the catalog in, and a test holds the
columns named here to those that the migrations make.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import column, func, select, table

from kernelindex.community.refusals import refusal
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

READ_ONLY = "this site only reads its catalog and takes nothing; ask its operator where to send it"
QUOTA_LOCK = 0x6B69_636F
"""PostgreSQL's advisory lock that makes counting and inserting one step."""

contributions = table(
    "community",
    *map(column, ("id", "kind", "subject_digest", "author", "created_at", "state", "body")),
)
audit = table(
    "community_audit",
    *map(column, ("id", "at", "actor", "action", "subject", "reason", "detail")),
)
keys = table(
    "api_keys",
    *map(
        column,
        (
            "id",
            "owner",
            "scopes",
            "secret_hash",
            "created_at",
            "expires_at",
            "revoked_at",
            "last_used_at",
        ),
    ),
)
sessions = table(
    "admin_sessions", *map(column, ("token_hash", "key_id", "created_at", "expires_at"))
)


class Database(Protocol):
    """An open catalog, as far as it matters here."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A read-only transaction."""

    def writing(self) -> AbstractContextManager[Connection]:
        """A short transaction that commits at its end."""


@contextmanager
def writing(database: Database) -> Iterator[Connection]:
    """A short transaction that commits at its end.

    Raises:
        CommunityError: ``contribution.read_only`` where the catalog can only be read.
    """
    try:
        with database.writing() as conn:
            yield conn
    except CatalogError as error:
        if error.code != "catalog.read_only":
            raise
        raise refusal("contribution.read_only", READ_ONLY) from error


@contextmanager
def writing_alone(database: Database) -> Iterator[Connection]:
    """A transaction that no other contribution's runs beside.

    SQLite's writers are alone anyway; PostgreSQL's wait for a lock that ends with the
    transaction, so that no quota is passed by two at once.
    """
    with writing(database) as conn:
        if conn.dialect.name == "postgresql":
            conn.execute(select(func.pg_advisory_xact_lock(QUOTA_LOCK)))
        yield conn
