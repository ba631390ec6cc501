"""A catalog that is rebuilt under a running site: no page says that what it holds is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog
from kernelindex.catalog.migrate import create_derived, drop_derived, set_derived_version
from kernelindex.catalog.rebuilding import rebuild
from kernelindex.site import create_app
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
    """The state that a rebuild commits before it derives the first row."""
    with catalog.writing() as conn:
        drop_derived(conn)
        create_derived(conn)
        set_derived_version(conn, "")


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
