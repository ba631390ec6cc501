"""Exports are handed out by name and by digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kernelindex.catalog import Catalog, export_to
from tests.api.factories import BASE, make_client


def test_an_export_is_listed_and_sent(starter: Catalog, tmp_path: Path) -> None:
    export_to(starter, tmp_path / "catalog.jsonl.zst")
    (tmp_path / "catalog.jsonl.zst.part").write_text("unfinished")
    (tmp_path / "secret.txt").write_text("not an export")
    client = make_client(starter, exports=tmp_path)
    body = (tmp_path / "catalog.jsonl.zst").read_bytes()
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    (line,) = client.get(f"{BASE}/exports").json()["exports"]
    assert (line["name"], line["digest"]) == ("catalog.jsonl.zst", digest)
    by_name = client.get(f"{BASE}/exports/catalog.jsonl.zst")
    assert by_name.content == body
    assert by_name.headers["cache-control"] == "public, no-cache"
    by_digest = client.get(f"{BASE}/exports/{digest}")
    assert by_digest.content == body
    assert "immutable" in by_digest.headers["cache-control"]
    known = client.get(f"{BASE}/exports/{digest}", headers={"If-None-Match": f'"{digest}"'})
    assert known.status_code == 304


def test_part_of_an_export(starter: Catalog, tmp_path: Path) -> None:
    (tmp_path / "catalog.jsonl.zst").write_bytes(b"0123456789")
    client = make_client(starter, exports=tmp_path)
    answer = client.get(f"{BASE}/exports/catalog.jsonl.zst", headers={"Range": "bytes=2-4"})
    assert (answer.status_code, answer.content) == (206, b"234")


def test_nothing_else_of_the_folder_is_sent(starter: Catalog, tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    (tmp_path / "secret.zst").write_text("outside")
    client = make_client(starter, exports=tmp_path / "exports")
    for name in ("..%2Fsecret.zst", "%2e%2e%2fsecret.zst", "secret.zst"):
        assert client.get(f"{BASE}/exports/{name}").status_code == 404


def test_without_a_folder_the_list_is_empty(starter: Catalog, tmp_path: Path) -> None:
    client = make_client(starter, exports=tmp_path / "none")
    assert client.get(f"{BASE}/exports").json() == {"exports": []}
