"""A catalog's file that is replaced, or that nobody can write beside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import event, text

from kernelindex.catalog import Catalog, import_records, rebuild
from kernelindex.catalog.engines import sqlite_path
from kernelindex.errors import CatalogError
from tests.catalog.factories import World, make_snapshot

ONLY_READ = "PRAGMA query_only = ON"


def make_catalog(url: str, *names: str) -> Path:
    world = World()
    with Catalog.create(url) as catalog:
        import_records(catalog, make_snapshot(), [world.row(name, 1000) for name in names])
        return sqlite_path(catalog.url)


def test_a_file_put_in_its_place_is_read_from_then_on(tmp_path: Path) -> None:
    served = make_catalog(f"sqlite:///{tmp_path}/served.db", "a")
    other = make_catalog(f"sqlite:///{tmp_path}/other.db", "b", "c")
    with Catalog.open(f"sqlite:///{served}") as catalog:
        assert catalog.run_count() == 1
        other.replace(served)
        assert catalog.run_count() == 2
        served.unlink()
        assert catalog.run_count() == 2  # what was opened is still there


def test_a_catalog_in_a_folder_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_catalog(f"sqlite:///{tmp_path}/made.db", "a")
    folder = tmp_path / "frozen"
    folder.mkdir()
    shutil.copy(made, folder / "ki.db")
    usual = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: usual(path, mode) and path != folder)
    with Catalog.open(f"sqlite:///{folder}/ki.db") as catalog:
        assert catalog.run_count() == 1
    assert [one.name for one in folder.iterdir()] == ["ki.db"]


@pytest.mark.parametrize("lock", ["write-lock", "import-lock"])
def test_a_catalog_that_cannot_be_written_says_so(tmp_path: Path, lock: str) -> None:
    path = make_catalog(f"sqlite:///{tmp_path}/ki.db", "a")
    (tmp_path / f"ki.db.{lock}").unlink(missing_ok=True)
    (tmp_path / f"ki.db.{lock}").mkdir()
    with Catalog.open(f"sqlite:///{path}") as catalog:
        with pytest.raises(CatalogError, match="can only be read from here") as caught:
            rebuild(catalog)
        assert caught.value.code == "catalog.read_only"
        assert catalog.run_count() == 1


def test_a_file_that_cannot_be_written_says_so(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        event.listen(catalog.writer, "connect", lambda dbapi, _: dbapi.execute(ONLY_READ))
        with pytest.raises(CatalogError, match="this user may only read it") as caught:
            import_records(catalog, make_snapshot(), [World().row("a", 1000)])
        assert caught.value.code == "catalog.read_only"


@pytest.mark.postgresql
def test_a_user_who_may_only_read_is_told_so(postgresql_url: str) -> None:
    with Catalog.open(postgresql_url) as catalog, catalog.writing() as conn:
        conn.execute(text("DROP ROLE IF EXISTS ki_reader"))
        conn.execute(text("CREATE ROLE ki_reader LOGIN"))
        conn.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO ki_reader"))
    with Catalog.open(postgresql_url.replace("postgres@", "ki_reader@")) as catalog:
        assert catalog.run_count() == 0
        with pytest.raises(CatalogError, match="this user may only read it") as caught:
            import_records(catalog, make_snapshot(), [World().row("a", 1000)])
        assert caught.value.code == "catalog.read_only"


def test_what_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "ki.db").write_text("something else " * 100)
    with pytest.raises(CatalogError, match="Cannot open the catalog") as caught:
        Catalog.open(f"sqlite:///{tmp_path}/ki.db")
    assert "file is not a database" in str(caught.value)
    assert "ki import" not in str(caught.value)
