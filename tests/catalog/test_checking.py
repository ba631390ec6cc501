"""`check` finds what was planted, and nothing in a sound catalog."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from kernelindex.catalog import Catalog, check, import_records, rebuild
from kernelindex.catalog.intake import Row
from tests.catalog.factories import World, make_run, make_snapshot


@pytest.fixture
def catalog(catalog_url: str):
    world = World()
    with Catalog.create(catalog_url) as opened:
        import_records(opened, make_snapshot(), [world.row("a", 1000), world.row("b", 3000)])
        yield opened


def plant(catalog: Catalog, statement: str, **values: str) -> None:
    with catalog.writing() as conn:
        assert conn.execute(text(statement), values).rowcount > 0


def codes(catalog: Catalog) -> list[str]:
    return [finding.code for finding in check(catalog)]


def test_sound_catalog_has_no_findings(catalog: Catalog) -> None:
    assert check(catalog) == []


def test_finds_a_wrong_digest(catalog: Catalog) -> None:
    digest = World().workload.digest
    plant(
        catalog,
        "UPDATE bodies SET body = replace(body, '1024', '1025') WHERE digest = :d",
        d=digest,
    )
    (finding,) = check(catalog)
    assert (finding.code, finding.subject) == ("digest_mismatch", digest)


def test_finds_a_dangling_reference(catalog: Catalog) -> None:
    protocol = World().protocol.digest
    plant(catalog, "DELETE FROM manifests WHERE digest = :d", d=protocol)
    assert codes(catalog) == ["dangling_reference", "dangling_reference"]


def test_finds_a_stale_rank(catalog: Catalog) -> None:
    (cohort,) = catalog.cohorts()
    old, new = '"rank_low":1', '"rank_low":2'
    plant(catalog, "UPDATE entries SET doc = replace(doc, :a, :b)", a=old, b=new)
    (finding,) = check(catalog)
    assert (finding.code, finding.subject) == ("stale_rank", cohort.key)


def test_finds_a_standing_that_no_correction_gives(catalog: Catalog) -> None:
    digest = World().run("a", 1000).digest
    plant(catalog, "UPDATE runs SET retracted = 'x' WHERE digest = :d", d=digest)
    assert set(codes(catalog)) == {"stale_rank"}


LISTS = (
    "names",
    "operation_specs",
    "operations",
    "implementations",
    "projects",
    "hardware",
    "shapes",
    "facets",
    "search_documents",
)


@pytest.mark.slow
@pytest.mark.parametrize("table", LISTS)
def test_finds_rows_lost_from_a_list(catalog: Catalog, table: str) -> None:
    plant(catalog, f"DELETE FROM {table}")
    found = check(catalog)
    assert {one.code for one in found} == {"stale_list"}
    assert all(one.text.startswith(table) for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["implementations", "projects", "hardware", "operations"])
def test_finds_an_object_that_neither_its_list_nor_a_search_has(
    catalog: Catalog, table: str
) -> None:
    plant(catalog, f"DELETE FROM {table}")
    plant(catalog, "DELETE FROM search_documents WHERE kind = :k", k=table.removesuffix("s"))
    assert {one.text for one in check(catalog)} == {f"{table} has no row for it"}


@pytest.mark.slow
def test_finds_documents_whose_words_the_search_has_lost(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), [World().row("a", 1000)])
        (operation,) = catalog.operations()
        lost = (
            "INSERT INTO search_fts(search_fts, rowid, words)"
            " SELECT 'delete', number, words FROM search_documents WHERE key = :k"
        )
        key = f"operation:{operation.slug}"
        plant(catalog, lost, k=key)
        found = [(one.code, one.subject, one.text) for one in check(catalog)]
        assert found == [("stale_list", key, "search_fts does not find it by its words")]
        with catalog.writing() as conn:
            conn.execute(text("DROP TABLE search_fts"))
        assert len(check(catalog)) == 4
        rebuild(catalog)
        assert check(catalog) == []


def make_odd_row() -> Row:
    """A run whose workload and implementation are of different operations."""
    here, there = World(), World("shift")
    implementation = there.implementation("odd")
    run = make_run(implementation, here.workload, here.protocol, here.environment)
    row = here.row("a", 1)
    manifests = (*row.manifests[:4], there.operation, implementation, run)
    observation = replace(row.observation, run_digest=run.digest)
    return replace(row, manifests=manifests, observation=observation, aliases=())


def test_finds_workload_and_implementation_of_different_operations(catalog: Catalog) -> None:
    odd = make_odd_row()
    digest = odd.observation.run_digest
    import_records(catalog, make_snapshot("2"), [odd])
    (finding,) = check(catalog)
    assert (finding.code, finding.subject) == ("wrong_operation", digest)
    assert not finding.is_fault
    assert catalog.run(digest).reasons[0]["code"] == "wrong_operation"
