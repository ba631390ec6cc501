"""The same answers from PostgreSQL, hostile input included."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from kernelindex.api import examples
from kernelindex.catalog import Catalog, import_records
from kernelindex.sources import find_source
from tests.api.factories import BASE, make_client
from tests.api.test_hostile import HOSTILE, forged

pytestmark = pytest.mark.postgresql
SAME = (
    "/runs/01a0202b",
    f"/resolve/kernel?q={examples.QUERY}",
    "/records?limit=3",
    "/operations",
    "/cohorts/a834895d",
    "/search?q=moe",
    "/runs?gpu=H200&limit=5",
)


@pytest.fixture
def on_postgresql(postgresql_url: str) -> Iterator[TestClient]:
    catalog = Catalog.open(postgresql_url)
    snapshot, records = find_source("starter").read()
    import_records(catalog, snapshot, records)
    yield make_client(catalog)
    catalog.close()


def test_both_databases_answer_alike(client: TestClient, on_postgresql: TestClient) -> None:
    for path in SAME:
        ours, theirs = client.get(BASE + path), on_postgresql.get(BASE + path)
        assert theirs.status_code == 200, theirs.text
        assert theirs.content == ours.content, path


def test_hostile_input_breaks_nothing(on_postgresql: TestClient) -> None:
    for text in HOSTILE.values():
        for path in ("/runs", "/search", "/resolve/kernel", "/implementations", "/records"):
            for name in ("q", "operation", "gpu", "source", "project", "cursor"):
                answer = on_postgresql.get(BASE + path, params={name: text})
                assert answer.status_code < 500, (path, name, text)
        for kind in ("runs", "operations", "cohorts", "workloads", "sources", "hardware"):
            answer = on_postgresql.get(f"{BASE}/{kind}/{quote(text[:50], safe='')}")
            assert answer.status_code < 500, (kind, text)


@pytest.mark.parametrize("after", [[1], ["a", 1], ["\0", "b"], [None, None], ["a", "b", 2**63]])
def test_a_forged_cursor_breaks_nothing(on_postgresql: TestClient, after: list[object]) -> None:
    for name in ("runs", "records"):
        params = {"cursor": forged({"list": name}, after)}
        assert on_postgresql.get(f"{BASE}/{name}", params=params).status_code in {200, 400}
