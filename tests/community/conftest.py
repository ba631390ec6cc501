from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelindex.catalog import Catalog
from tests.community.factories import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(catalog_url: str) -> Iterator[Catalog]:
    """An empty catalog, once on each database."""
    with Catalog.open(catalog_url) as catalog:
        yield catalog


@pytest.fixture
def sqlite_database(sqlite_url: str) -> Iterator[Catalog]:
    """An empty catalog on SQLite, for what does not depend on the dialect."""
    with Catalog.open(sqlite_url) as catalog:
        yield catalog
