"""A catalog that is rebuilt under a running site: no page says that what it holds is not there."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.synthetic import make_rows, make_snapshot
from sqlalchemy import text
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.migrate import create_derived, drop_derived, set_derived_version
from kernelindex.catalog.rebuilding import rebuild
from kernelindex.site import create_app
from tests.site.test_serve import read, serving
from tests.support.site import ORIGINAL, RECORD, import_starter, record, record_runs

ADDRESSES = (
    "/",
    "/answer?q={question}",
    "/operations",
    "/operations/moe-mlp",
    "/implementations",
    "/projects",
    "/projects/liger-kernel",
    "/hardware",
    "/hardware/h100-sxm5-80gb",
    "/sources",
    "/sources/liger-kernel-bench",
    "/runs",
    "/runs/{run}",
    "/runs/{original}",
    "/runs/{run}/attest",
    "/runs/{run}/report",
    "/runs/{run}/received",
    "/cohorts/{cohort}",
    "/compare?run={run}&run={other}",
    "/records",
    "/records/{cohort}",
    "/badges/{run}/best.svg",
    "/badges/{run}/level.svg",
    "/cards/run/{run}.png",
    "/cards/cohort/{cohort}.png",
    "/charts/cohort/00000000000000000000000000000000.csv?of={cohort}",
    "/charts/limit/00000000000000000000000000000000.csv?of={run}",
    "/feeds/records.atom",
    "/sitemap.xml",
    "/sitemaps/objects.xml",
    "/health",
    "/api/v1/runs",
    "/api/v1/runs/{run}",
    "/api/v1/runs/{original}/manifest",
    "/api/v1/cohorts/{cohort}",
    "/api/v1/operations",
    "/api/v1/records",
    "/api/v1/search?q=moe",
    "/api/v1/resolve/kernel?q={question}",
)
"""One address of each kind that reads derived rows."""


def named(address: str) -> str:
    leader, loop = record_runs()
    return address.format(
        run=leader[7:19],
        other=loop[7:19],
        original=ORIGINAL,
        cohort=record().cohorts[0].key.removeprefix("sha256:")[:12],
        question=RECORD.replace(" ", "+"),
    )


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = f"sqlite:///{tmp_path_factory.mktemp('rebuilt') / 'ki.db'}"
    import_starter(found)
    return found


def dropped(catalog: Catalog) -> None:
    """What a rebuild commits first where the tables are of another form."""
    with catalog.writing() as conn:
        drop_derived(conn)
        create_derived(conn)
        set_derived_version(conn, "")


@pytest.mark.slow
def test_every_address_asks_to_come_back_while_rows_are_derived_again(
    url: str, tmp_path: Path
) -> None:
    with Catalog.open(url) as served, Catalog(url) as other:
        site = TestClient(create_app(catalog=served, cache=tmp_path), follow_redirects=False)
        dropped(other)
        seen = {address: site.get(named(address)) for address in ADDRESSES}
        assert {address: one.status_code for address, one in seen.items()} == dict.fromkeys(
            ADDRESSES, 503
        )
        assert {one.headers["retry-after"] for one in seen.values()} == {"5"}
        assert {one.headers["cache-control"] for one in seen.values()} == {"no-store"}
        rebuild(other)
        found = {address: site.get(named(address)).status_code for address in ADDRESSES}
        assert [address for address, status in found.items() if status >= 400] == []


RUNS = 2_000
OF_RUNS = "/api/v1/runs?limit=1&source=synthetic"
OF_OPERATIONS = "/api/v1/operations?limit=1"
ASKED = (OF_RUNS, OF_OPERATIONS, "/operations", "/api/v1/records", "/runs", "/hardware")


@pytest.mark.slow
def test_a_server_answers_from_before_until_a_rebuild_is_whole(catalog_url: str) -> None:
    """Its rows before are made to say something else, so that each answer tells its time."""
    with Catalog.open(catalog_url) as catalog:
        import_records(catalog, make_snapshot(RUNS), make_rows(RUNS))
        with serving("--rate", "off", url=catalog_url) as address:
            sound = answers(address)
            with catalog.writing() as conn:
                conn.execute(text("UPDATE operations SET run_count = 7777"))
                conn.execute(text("UPDATE runs SET source = 'odd'"))
            before = answers(address)
            assert {one for one in ASKED if before[one] != sound[one]} >= {
                OF_RUNS,
                OF_OPERATIONS,
                "/operations",
            }
            during = answers_while(address, lambda: rebuild(catalog))
            after = answers(address)
    assert after == sound
    assert len(during) > 2
    assert during[0] == before
    for one in during:
        assert all(one[asked] in {before[asked], sound[asked]} for asked in ASKED)


def answers(address: str) -> dict[str, bytes]:
    """What each address answers; any status but 200 raises."""
    return {asked: settled(read(address + asked)) for asked in ASKED}


def settled(body: bytes) -> bytes:
    """A body without its cursor, which is sealed anew for each answer."""
    if body[:1] != b"{":
        return body
    return json.dumps({k: v for k, v in json.loads(body).items() if "cursor" not in k}).encode()


def answers_while(address: str, work: Callable[[], object]) -> list[dict[str, bytes]]:
    """Answers again and again until some work is done."""
    worker = threading.Thread(target=work)
    worker.start()
    found = []
    while worker.is_alive():
        found.append(answers(address))
    worker.join()
    return found
