"""Prepared reads answer as SQLAlchemy's own execution does, lists of any length too."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, func, literal, select

from kernelindex.catalog import Catalog
from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.tables import truth
from kernelindex.errors import CatalogError

STATE = truth.state
BY_KEYS = (
    select(STATE.c.key, literal("%s").label("mark"))
    .where(STATE.c.key.in_(bindparam("keys", expanding=True)), STATE.c.key != bindparam("but"))
    .order_by(STATE.c.key)
)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_rows_are_those_of_sqlalchemy(catalog_url: str, count: int) -> None:
    with Catalog.open(catalog_url) as catalog, catalog.reading() as conn:
        known = list(conn.execute(select(STATE.c.key)).scalars())
        keys = [*known, "absent"][:count]
        found = Prepared(BY_KEYS).rows(conn, keys=keys, but="nothing")
        assert [tuple(row) for row in found] == [
            tuple(row) for row in conn.execute(BY_KEYS, {"keys": keys, "but": "nothing"})
        ]
        assert all(row.mark == "%s" for row in found)


def test_it_begins_the_transaction_it_reads_in(catalog_url: str) -> None:
    with Catalog.open(catalog_url) as catalog, catalog.reading() as conn:
        assert not conn.in_transaction()
        Prepared(BY_KEYS).rows(conn, keys=["a"], but="")
        assert conn.in_transaction()


def test_a_text_serves_all_lists_up_to_a_power_of_two(sqlite_url: str) -> None:
    prepared = Prepared(BY_KEYS)
    with Catalog.open(sqlite_url) as catalog, catalog.reading() as conn:
        for count in range(1, 9):
            prepared.rows(conn, keys=["x"] * count, but="")
    assert len(prepared._texts) == 4


def test_a_time_limit_stops_it_too(catalog_url: str) -> None:
    first = select(literal(1).label("i")).cte(recursive=True)
    numbers = first.union_all(select(first.c.i + 1))
    endless = Prepared(select(func.count()).select_from(numbers))
    with Catalog.open(catalog_url, read_limit_s=0.2) as catalog:
        with pytest.raises(CatalogError) as caught, catalog.reading() as conn:
            endless.rows(conn)
        assert caught.value.code == "catalog.read_time_limit"
