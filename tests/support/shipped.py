"""The site as it ships: the starter evidence, every signed batch, and their corrections."""

from __future__ import annotations

from functools import cache

from starlette.testclient import TestClient

from kernelindex.catalog import Catalog
from kernelindex.catalog.rows import RunRow
from kernelindex.site import create_app
from kernelindex.sources import find_source
from tests.support.folders import lasting_folder
from tests.support.site import UNHURRIED, import_as_read


@cache
def shipped_url() -> str:
    """One catalog for all tests that only read."""
    url = f"sqlite:///{lasting_folder('shipped')}/ki.db"
    with Catalog.create(url) as catalog:
        for slug in ("starter", "records"):
            source = find_source(slug)
            import_as_read(catalog, source)
            source.correct(catalog)
    return url


@cache
def shipped() -> Catalog:
    return Catalog.open(shipped_url())


@cache
def client() -> TestClient:
    """A client that follows no redirect and lets failures become pages."""
    app = create_app(catalog=shipped(), cache=lasting_folder("charts"), rates=UNHURRIED)
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


@cache
def all_runs() -> tuple[RunRow, ...]:
    """Every run, newest first."""
    page = shipped().runs(limit=200)
    rows = list(page.rows)
    while page.cursor:
        page = shipped().runs(cursor=page.cursor, limit=200)
        rows += page.rows
    return tuple(rows)


def withdrawn() -> tuple[str, ...]:
    """Digests of the runs that did not pass and were retracted."""
    return tuple(row.digest for row in all_runs() if row.retracted and row.status != "passed")


def aborted() -> tuple[str, ...]:
    """Digests of the runs that were aborted."""
    return tuple(row.digest for row in all_runs() if row.status == "aborted")
