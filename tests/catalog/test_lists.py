"""Lists of groups and of implementations: counted, filtered, sorted, each row on one page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.run_reading import when
from kernelindex.policy.facts import Observed
from tests.catalog.factories import World, make_snapshot


@pytest.fixture
def catalog(catalog_url: str) -> Iterator[Catalog]:
    small, large = World(n=1024), World(n=2048)
    rows = [small.row("b", 3000), small.row("a", 1000), large.row("b", 500), large.row("c", 700)]
    other = World("shift")
    rows += [other.row("d", 100), other.row("d", 200)]
    with Catalog.create(catalog_url) as made:
        import_records(made, make_snapshot(), rows)
        yield made


def test_groups_are_counted_by_device_and_pass(catalog: Catalog) -> None:
    counts = catalog.group_counts(hardware="h100-sxm5-80gb")
    assert [(one.groups, one.contested, one.runs) for one in counts] == [(2, 2, 4), (1, 0, 2)]
    assert catalog.group_counts(metric="peak_memory") == []


def test_pages_of_groups_hold_each_once(catalog: Catalog) -> None:
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = catalog.group_page(limit=1, cursor=cursor)
        seen += [row.key for row in page.rows]
        cursor = page.cursor
    assert cursor is None
    assert len(set(seen)) == 3
    assert catalog.entry_counts(seen) == {key: 2 if key in seen[:2] else 1 for key in seen}
    assert catalog.group_page(without_metric="latency").rows == ()


@pytest.mark.parametrize(
    ("sort", "names"),
    [("name", ["a", "b", "c", "d"]), ("runs", None), ("project", None), ("operation", None)],
)
def test_pages_of_implementations(catalog: Catalog, sort: str, names: list[str] | None) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = catalog.implementation_page({}, sort=sort, limit=2, cursor=cursor)
        seen += [row.title for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == ["a", "b", "c", "d"]
    assert names is None or seen == names
    if sort == "runs":
        assert set(seen[:2]) == {"b", "d"}


def test_an_implementation_by_device_and_language(catalog: Catalog) -> None:
    (row,) = (one for one in catalog.implementation_page({}).rows if one.title == "b")
    assert catalog.implementation(row.digest) == row
    assert catalog.implementation_devices(row.digest) == {"h100-sxm5-80gb": 2}
    assert catalog.implementation_page({"line": row.line_id}).rows == (row,)
    assert sum(catalog.languages().values()) == 4


def test_runs_and_records_oldest_first(catalog: Catalog) -> None:
    newest = [row.digest for row in catalog.runs().rows]
    first = catalog.runs(oldest_first=True, limit=4)
    rest = catalog.runs(oldest_first=True, limit=4, cursor=first.cursor)
    assert [row.digest for row in (*first.rows, *rest.rows)] == newest[::-1]
    changes = catalog.records().rows
    assert catalog.records(oldest_first=True).rows == changes[::-1]


@pytest.mark.parametrize(
    ("observed", "stamp"),
    [
        (
            Observed(text="2026-11-30T09:17:05Z", zone="utc", date="2026-11-30"),
            "2026-11-30T09:17:05Z",
        ),
        (
            Observed(text="2026-12-01T01:30:00.25+02:00", zone="utc", date="2026-12-01"),
            "2026-11-30T23:30:00Z",
        ),
        (Observed(text="2026-11-30T09:17:05", zone="utc", date="2026-11-30"), "2026-11-30"),
        (Observed(text="2026-11-30 23:59:47", zone="unstated", date="2026-11-30"), "2026-11-30"),
        (Observed(text="last week", zone="unstated", date=None), ""),
    ],
)
def test_runs_are_put_in_order_by_the_instant_where_one_is_stated(
    observed: Observed, stamp: str
) -> None:
    """Batches of one day were mixed while they went by the date alone."""
    assert when(observed) == stamp
