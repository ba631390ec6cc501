"""Prepared reads answer as SQLAlchemy's own execution does, lists of any length too."""

from __future__ import annotations

import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Double,
    Integer,
    LargeBinary,
    Text,
    bindparam,
    cast,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError

from kernelindex.catalog import Catalog
from kernelindex.catalog.prepared import Prepared, rows_together
from kernelindex.catalog.tables import truth
from kernelindex.errors import CatalogError

STATE = truth.state
TYPES = (Integer, BigInteger, Double, LargeBinary, Text, Boolean, Text)
BY_KEYS = (
    select(STATE.c.key, literal("%s").label("mark"))
    .where(STATE.c.key.in_(bindparam("keys", expanding=True)), STATE.c.key != bindparam("but"))
    .order_by(STATE.c.key)
)
_ONE = select(literal(1).label("i")).cte(recursive=True)
ENDLESS = _ONE.union_all(select(_ONE.c.i + 1))


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
    endless = Prepared(select(func.count()).select_from(ENDLESS))
    with Catalog.open(catalog_url, read_limit_s=0.2) as catalog:
        with pytest.raises(CatalogError) as caught, catalog.reading() as conn:
            endless.rows(conn)
        assert caught.value.code == "catalog.read_time_limit"


@pytest.mark.postgresql
def test_a_read_stays_planned_over_requests_and_failures(postgresql_url: str) -> None:
    """psycopg forgets what is prepared with each ROLLBACK; ours outlives that."""
    prepared = Prepared(BY_KEYS)
    failing = Prepared(select(1 / func.length(bindparam("text")).label("n")))
    with Catalog.create(postgresql_url) as catalog:
        for _ in range(3):
            with catalog.reading() as conn:
                prepared.rows(conn, keys=["a"], but="")
            with pytest.raises(DBAPIError), catalog.reading() as conn:
                failing.rows(conn, text="")
        with catalog.reading() as conn:
            count = text("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'ki_%'")
            assert conn.execute(count).scalar_one() >= 2
            assert len(conn.connection.info["prepared"]) == 2


@pytest.mark.postgresql
def test_every_type_that_reads_use_comes_back(postgresql_url: str) -> None:
    values = {"i": -7, "big": 1 << 40, "f": 0.1, "b": b"\0\xff", "t": "é", "yes": True, "no": None}
    columns = [
        cast(literal(v), type_).label(n)
        for (n, v), type_ in zip(values.items(), TYPES, strict=True)
    ]
    with Catalog.create(postgresql_url) as catalog, catalog.reading() as conn:
        (row,) = Prepared(select(*columns)).rows(conn)
        assert row._asdict() == values
        with pytest.raises(TypeError, match="cast it"):
            Prepared(select(func.now())).rows(conn)


@pytest.mark.postgresql
def test_a_nul_character_is_refused_and_cuts_nothing_off(postgresql_url: str) -> None:
    with (
        Catalog.create(postgresql_url) as catalog,
        pytest.raises(DBAPIError, match="NUL"),
        catalog.reading() as conn,
    ):
        Prepared(BY_KEYS).rows(conn, keys=["schema\0x"], but="")


@pytest.mark.postgresql
def test_one_read_fails_where_the_server_hung_up_and_the_next_does_not(postgresql_url: str) -> None:
    prepared = Prepared(BY_KEYS)
    with Catalog.create(postgresql_url) as catalog:
        with catalog.reading() as conn:
            prepared.rows(conn, keys=["a"], but="")
            pid = conn.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with catalog.writing() as conn:
            conn.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
        with pytest.raises(DBAPIError), catalog.reading() as conn:
            prepared.rows(conn, keys=["a"], but="")
        with catalog.reading() as conn:
            assert prepared.rows(conn, keys=["a"], but="") == []


def test_reads_sent_together_answer_as_one_by_one(catalog_url: str) -> None:
    by_keys, count = Prepared(BY_KEYS), Prepared(select(func.count().label("n")).select_from(STATE))
    values = {"keys": ["schema", "generation"], "but": "schema"}
    with Catalog.open(catalog_url) as catalog:
        with catalog.reading() as conn:
            single = [by_keys.rows(conn, **values), count.rows(conn)]
        for _ in range(2):
            with catalog.reading() as conn:
                assert rows_together(conn, (by_keys, values), (count, {})) == single


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.slow
def test_one_that_fails_among_several_fails_them_and_nothing_after(
    catalog_url: str, place: int
) -> None:
    endless = Prepared(select(func.count()).select_from(ENDLESS))
    by_keys = Prepared(BY_KEYS)
    values: dict[str, object] = {"keys": ["a"], "but": ""}
    reads = [(by_keys, values), (by_keys, values)]
    reads.insert(place, (endless, {}))
    with Catalog.open(catalog_url, read_limit_s=0.2) as catalog:
        for _ in range(2):
            with pytest.raises(CatalogError) as caught, catalog.reading() as conn:
                rows_together(conn, *reads)
            assert caught.value.code == "catalog.read_time_limit"
            with catalog.reading() as conn:
                assert by_keys.rows(conn, keys=["a"], but="") == []


@pytest.mark.parametrize("prepared_first", [True, False])
def test_all_reads_see_the_state_of_the_first(catalog_url: str, prepared_first: bool) -> None:
    """Whichever way it is asked: BEGIN goes with it."""
    prepared = Prepared(select(STATE.c.key).where(STATE.c.key == bindparam("key")))
    plain = select(STATE.c.key).where(STATE.c.key == "new")

    with Catalog.open(catalog_url) as catalog, catalog.reading() as conn:

        def both() -> list[list[str]]:
            asked = [
                lambda: [row.key for row in prepared.rows(conn, key="new")],
                lambda: list(conn.execute(plain).scalars()),
            ]
            return [ask() for ask in (asked if prepared_first else asked[::-1])]

        assert both() == [[], []]
        with catalog.writing() as other:
            other.execute(STATE.insert().values(key="new", value="1"))
        assert both() == [[], []]


@pytest.mark.postgresql
def test_what_was_opened_and_not_read_leaves_no_transaction(postgresql_url: str) -> None:
    with Catalog.create(postgresql_url) as catalog:
        for _ in range(2):
            with catalog.reading() as conn:
                conn.begin()
            with catalog.reading() as conn:
                assert Prepared(BY_KEYS).rows(conn, keys=["a"], but="") == []
