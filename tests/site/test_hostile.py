"""Hostile names are harmless and visible on every page, and addresses break nothing."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.site import create_app
from kernelindex.sources import find_source
from tests.support.folders import lasting_folder
from tests.support.html import Document
from tests.support.site import UNHURRIED, client, import_starter, record_runs, starter

BIDI = "\u202e"
NAME = f'</title><script>alert("x")</script><img src=x onerror=1>{BIDI}gnp\u200b'
LONG = "Ядро行列" * 24
PATHS = (
    "/runs/{}",
    "/cohorts/{}",
    "/operations/{}",
    "/implementations/{}",
    "/projects/{}",
    "/hardware/{}",
    "/sources/{}",
    "/answer?q={}",
    "/compare?run={}&run={}",
    "/records?operation={}",
    "/nothing/{}",
)
HOSTILE = {
    "nul": "a\0b",
    "bidi": f"{BIDI}gnp.exe\u2066",
    "sql": "x' OR '1'='1'; DROP TABLE runs; --",
    "like": "%_%",
    "markup": NAME,
    "unicode": LONG,
    "surrogate": "\ud800",
    "control": "\x1b[31m\r\nSet-Cookie: a=b",
    "path": "../../etc/passwd",
    "format": "{0.__class__}{{ 7*7 }}",
}


@cache
def hostile_site() -> tuple[TestClient, str]:
    """A catalog with a copy of the record whose every name is hostile; and that run's digest."""
    folder = lasting_folder("hostile")
    url = f"sqlite:///{folder}/ki.db"
    import_starter(url)
    file = folder / "hostile.jsonl"
    documents = _hostile_documents()
    file.write_bytes(b"\n".join(map(orjson.dumps, documents)))
    with Catalog.create(url) as catalog:
        import_records(catalog, *find_source("manifests").read(file))
    opened = Catalog.open(url)
    found = [row for row in opened.runs(limit=200).rows if "HOSTILE" in row.revision]
    app = create_app(catalog=opened, cache=folder / "charts", rates=UNHURRIED)
    return TestClient(app, raise_server_exceptions=False), found[0].digest


def _hostile_documents() -> list[dict[str, Any]]:
    """The record's manifests with another implementation and other titles."""
    run = starter().run(record_runs()[1])
    assert run is not None
    digests = (
        run.operation_digest,
        run.workload_digest,
        run.protocol_digest,
        run.environment_digest,
        run.implementation["digest"],
        run.digest,
    )
    found = starter().documents(digests)
    documents = [copy.deepcopy(found[digest]) for digest in digests]
    implementation, measured = documents[4], documents[5]
    implementation["metadata"] |= {"title": NAME, "name": "hostile"}
    implementation["spec"]["projectRevision"]["version"] = f"HOSTILE {LONG[:40]} <b>"
    implementation["spec"]["callable"]["symbol"] = NAME
    from kernelindex.manifests import parse

    measured["spec"]["implementationDigest"] = parse(implementation).digest
    measured["metadata"] |= {"title": NAME, "name": "hostile-run"}
    measured["spec"]["sourceNative"]["externalId"] = NAME
    return documents


def check(text: str) -> Document:
    document = Document(text)
    assert "<script" not in text
    assert not [one for one in document.all if "onerror" in one.attrs]
    assert BIDI not in text
    assert "\u200b" not in text
    return document


def test_a_hostile_run_shows_its_name_as_text() -> None:
    site, digest = hostile_site()
    answer = site.get(f"/runs/{digest[7:]}")
    assert answer.status_code == 200
    page = check(answer.text)
    assert '<script>alert("x")</script>' in page.text
    assert "\\u202egnp\\u200b" in page.text


@pytest.mark.parametrize("path", ["/answer?q=moe-mlp", "/records", "/runs", "/implementations"])
def test_lists_with_a_hostile_name_stay_whole(path: str) -> None:
    site, _ = hostile_site()
    answer = site.get(path)
    assert answer.status_code == 200
    check(answer.text)


@pytest.mark.parametrize("text", [pytest.param(value, id=name) for name, value in HOSTILE.items()])
def test_a_hostile_address_breaks_nothing(text: str) -> None:
    encoded = quote(text.encode("utf-8", "surrogatepass"), safe="")
    for path in PATHS:
        answer = client().get(path.replace("{}", encoded))
        assert answer.status_code < 500, path
        if "html" in answer.headers.get("content-type", ""):
            check(answer.text)
