"""The whole site over the evidence that travels in the package."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from starlette.testclient import TestClient

from kernelindex.api import Rates
from kernelindex.catalog import Catalog, import_records
from kernelindex.resolve import ask_text
from kernelindex.resolve.answer import Answer
from kernelindex.site import create_app
from kernelindex.sources import SourceSpec, find_source
from tests.support.folders import lasting_folder

RECORD = (
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H100 pass:backward"
)
UNHURRIED = Rates(reads="1000000/minute", heavy="1000000/minute")
"""No test that shares an application is refused because others asked it before, or fast."""
READ_AT = "2026-12-01T00:00:00Z"
ORIGINAL = "01a0202b"
"""The id that the page this project was specified from had."""


def import_starter(url: str) -> None:
    """Fill a catalog with the starter evidence."""
    with Catalog.create(url) as catalog:
        import_as_read(catalog, find_source("starter"))


def import_as_read(catalog: Catalog, source: SourceSpec) -> None:
    """Import what travels in the package as if read on one day: later, its runs are old."""
    snapshot, records = source.read()
    import_records(catalog, replace(snapshot, fetched_at=READ_AT), records)


@cache
def starter_url() -> str:
    """One catalog of the starter evidence for all tests that only read."""
    url = f"sqlite:///{lasting_folder('site')}/ki.db"
    import_starter(url)
    return url


@cache
def starter() -> Catalog:
    return Catalog.open(starter_url())


@cache
def client() -> TestClient:
    """A client that follows no redirect and lets failures become pages."""
    app = create_app(catalog=starter(), cache=lasting_folder("charts"), rates=UNHURRIED)
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


@cache
def record() -> Answer:
    """The answer for the workload of record."""
    return ask_text(starter(), RECORD)


@cache
def record_runs() -> tuple[str, str]:
    """Digests of the leader and of the loop behind it."""
    leader, loop = record().cohorts[0].entries
    return leader.run.digest, loop.run.digest
