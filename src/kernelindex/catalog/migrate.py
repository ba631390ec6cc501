"""Making and migrating the tables: Alembic for the truth, create or drop for the rest."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from kernelindex.catalog import search_index, versions
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection, Engine


def migrate(engine: Engine) -> None:
    """Bring the truth tables to the newest revision; make derived tables if none exist."""
    with engine.begin() as conn:
        if versions.schema_revision(conn) == versions.SCHEMA_REVISION:
            return
        upgrade(conn)
        if not conn.dialect.has_table(conn, derived.runs.name):
            create_derived(conn)


def upgrade(conn: Connection, revision: str = "head") -> None:
    """Run the migrations up to ``revision`` within the connection's transaction."""
    from alembic import command

    command.upgrade(migration_config(conn), revision)


def migration_config(conn: Connection) -> Config:
    """Alembic's configuration, made here so that no file outside the package is needed."""
    from alembic.config import Config

    config = Config()
    config.set_main_option(
        "script_location", str(resources.files("kernelindex.catalog") / "migrations")
    )
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = conn
    return config


def create_derived(conn: Connection) -> None:
    """Make the empty derived tables and say which version they are of."""
    derived.metadata.create_all(conn)
    search_index.create(conn)
    set_derived_version(conn, versions.derived_version())


def has_current_form(conn: Connection) -> bool:
    """Whether every derived table has the columns and indexes that this version writes."""
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    added = {search_index.VECTOR, search_index.VECTOR_INDEX}
    seen: set[str] = set()

    def is_ours(item: Any, name: str | None, kind: str, reflected: bool, _other: Any) -> bool:
        table = name if kind == "table" else item.table.name
        if reflected and name in added:
            seen.add(str(name))
            return False
        return table in derived.metadata.tables

    context = MigrationContext.configure(conn, opts={"include_object": is_ours})
    differences = compare_metadata(context, derived.metadata)
    wanted = added if conn.dialect.name == "postgresql" else set()
    return not differences and seen == wanted


def drop_derived(conn: Connection) -> None:
    """Drop every derived table, whatever version made it."""
    set_derived_version(conn, "")
    search_index.drop(conn)
    derived.metadata.drop_all(conn)


def set_derived_version(conn: Connection, version: str) -> None:
    """Note which version the derived rows are of; empty while they are being rebuilt."""
    conn.execute(truth.state.delete().where(truth.state.c.key == versions.DERIVED_KEY))
    conn.execute(insert(truth.state).values(key=versions.DERIVED_KEY, value=version))
