"""One catalog for all tests here: the evidence that travels in the package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.sources import find_source
from tests.api.factories import make_client


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    folder = tmp_path_factory.mktemp("api")
    catalog = Catalog.create(f"sqlite:///{folder}/ki.db")
    snapshot, records = find_source("starter").read()
    import_records(catalog, snapshot, records)
    yield catalog
    catalog.close()


@pytest.fixture(scope="session")
def client(starter: Catalog) -> Iterator[TestClient]:
    with make_client(starter) as opened:
        yield opened
