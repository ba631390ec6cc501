"""Exports are complete, the same every time, and give the same catalog elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
import pytest
import zstandard

from kernelindex.catalog import (
    Catalog,
    check,
    correct,
    export_digest,
    export_to,
    import_records,
    load_export,
)
from kernelindex.catalog.dumping import digest_of_dump, dump_derived
from kernelindex.catalog.intake import Artifact, Correction
from kernelindex.catalog.row_tuples import json_text, text_digest
from kernelindex.errors import CatalogError, ManifestError
from tests.catalog.factories import World, make_snapshot

if TYPE_CHECKING:
    from pathlib import Path

BODY = Artifact(
    digest="sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    kind="source",
    media_type="text/plain",
    size_bytes=5,
    body=b"hello",
)


def fill(catalog: Catalog) -> None:
    world = World()
    rows = [
        world.row("a", 1000, key="k", stamp="1"),
        replace(world.row("a", 900, key="k", stamp="2"), artifacts=(BODY,)),
        world.row("b", 1500),
    ]
    import_records(catalog, make_snapshot(), rows)
    digest = rows[2].observation.run_digest
    said = Correction(action="retract", run_digest=digest, actor="ada", reason="odd")
    correct(catalog, said, at="2026-03-01T00:00:00Z")


@pytest.mark.slow
def test_importing_an_export_gives_the_same_catalog(catalog_url: str, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl.zst"
    with Catalog.create(f"sqlite:///{tmp_path / 'other.db'}") as first:
        fill(first)
        digest = export_to(first, path)
        with first.reading_long() as conn:
            derived = digest_of_dump(dump_derived(conn))
    with Catalog.create(catalog_url) as second:
        counts = load_export(second, path)
        assert counts["artifact_bodies"] == 1
        assert export_digest(second) == digest
        with second.reading_long() as conn:
            assert digest_of_dump(dump_derived(conn)) == derived
        assert check(second) == []
        load_export(second, path)
        assert export_digest(second) == digest


def test_export_has_the_same_bytes_every_time(sqlite_url: str, tmp_path: Path) -> None:
    with Catalog.create(sqlite_url) as catalog:
        fill(catalog)
        one, two = tmp_path / "1.jsonl.zst", tmp_path / "2.jsonl.zst"
        assert export_to(catalog, one) == export_to(catalog, two) == export_digest(catalog)
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.slow
def test_parquet_has_every_row_and_the_same_bytes(catalog_url: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with Catalog.create(catalog_url) as catalog:
        fill(catalog)
        digests = {export_to(catalog, tmp_path / name) for name in ("1", "2")}
    assert len(digests) == 1
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes()
    count = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/1/observations.parquet'").fetchall()
    assert count == [(3,)]


def test_file_that_is_no_export_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(b"not zstandard")
    with Catalog.create(sqlite_url) as catalog:
        with pytest.raises(CatalogError, match="no export") as caught:
            load_export(catalog, path)
        assert caught.value.code == "catalog.export"
        with pytest.raises(CatalogError, match=r"jsonl\.zst"):
            export_to(catalog, tmp_path / "x.csv")


def write_export(path: Path, *lines: dict) -> Path:
    head = {"format": "kernelindex-catalog/1"}
    text = b"".join(orjson.dumps(line) + b"\n" for line in (head, *lines))
    path.write_bytes(zstandard.compress(text))
    return path


@pytest.mark.parametrize(
    ("table", "row", "words"),
    [
        ("api_keys", {"id": "x"}, "does not hold"),
        ("aliases", {"alias": "x"}, "wanted"),
        ("bodies", {"digest": "sha256:" + "0" * 64, "body": "{}"}, "hashes to"),
    ],
)
def test_rows_that_no_export_holds_are_refused(
    sqlite_url: str, tmp_path: Path, table: str, row: dict, words: str
) -> None:
    path = write_export(tmp_path / "x.jsonl.zst", {"table": table, "row": row})
    with Catalog.create(sqlite_url) as catalog:
        with pytest.raises(CatalogError, match=words):
            load_export(catalog, path)
        assert check(catalog) == []


def test_manifest_that_its_kind_refuses_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    body = json_text({"apiVersion": "kernelindex.dev/v1alpha1", "kind": "WorkloadCase", "spec": {}})
    digest = text_digest(body)
    stored = {"digest": digest, "kind": "WorkloadCase", "name": "x", "base_slug": "x"}
    row = {**stored, "title": "x", "metadata": '{"name":"x"}', "stamp": "1"}
    lines = [{"table": "bodies", "row": {"digest": digest, "body": body}}]
    path = write_export(tmp_path / "x.jsonl.zst", *lines, {"table": "manifests", "row": row})
    with Catalog.create(sqlite_url) as catalog, pytest.raises(ManifestError):
        load_export(catalog, path)
