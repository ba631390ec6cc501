"""Migrations and models say the same, and travel in the package."""

from __future__ import annotations

import sys
from importlib import resources

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from kernelindex.catalog import Catalog, versions
from kernelindex.catalog.migrate import migration_config, upgrade
from kernelindex.catalog.tables import derived, truth
from kernelindex.errors import CatalogError


def ours(_object, name, kind, _reflected, _compare_to) -> bool:
    return kind != "table" or name in truth.metadata.tables


def test_migrations_make_exactly_the_models(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog, catalog.writer.connect() as conn:
        options = {"include_object": ours, "compare_type": True}
        context = MigrationContext.configure(conn, opts=options)
        assert compare_metadata(context, truth.metadata) == []


def test_stated_revision_is_the_newest(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog, catalog.writer.connect() as conn:
        script = ScriptDirectory.from_config(migration_config(conn))
        assert script.get_heads() == [versions.SCHEMA_REVISION]


def test_downgrade_removes_every_table(tmp_path) -> None:
    from alembic import command

    engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    with engine.begin() as conn:
        upgrade(conn)
        assert truth.metadata.tables.keys() <= set(inspect(conn).get_table_names())
        command.downgrade(migration_config(conn), "base")
        assert inspect(conn).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_migrations_are_package_data() -> None:
    folder = resources.files("kernelindex.catalog") / "migrations" / "versions"
    names = [item.name for item in folder.iterdir()]
    assert "0001_first_schema.py" in names


def test_derived_tables_are_none_of_the_migrated_ones() -> None:
    assert not derived.metadata.tables.keys() & truth.metadata.tables.keys()


def test_missing_catalog_is_said_with_what_to_do(tmp_path) -> None:
    with pytest.raises(CatalogError, match="ki import starter") as caught:
        Catalog.open(f"sqlite:///{tmp_path / 'none.db'}")
    assert caught.value.code == "catalog.missing"
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "nonsense"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(CatalogError, match="Wanted") as caught:
        Catalog(url)
    assert caught.value.code == "catalog.url"


def test_a_missing_driver_is_named_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CatalogError, match=r"pip install 'kernelindex\[postgresql\]'") as caught:
        Catalog.create("postgresql+psycopg://user@host/database")
    assert caught.value.code == "catalog.driver"
