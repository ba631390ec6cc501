"""Rebuilding gives the same derived rows, whatever the order things came in."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import text

from kernelindex.catalog import Catalog, check, correct, import_records, rebuild
from kernelindex.catalog.dumping import dump_derived, dump_line
from kernelindex.catalog.intake import Correction, ProjectLink
from kernelindex.catalog.migrate import set_derived_version
from kernelindex.catalog.tables import derived
from kernelindex.errors import CatalogError
from tests.catalog.factories import World, make_snapshot


def dump(catalog: Catalog) -> list[bytes]:
    with catalog.reading_long() as conn:
        return [dump_line(table, row) for table, row in dump_derived(conn)]


def make_batches() -> list[list]:
    """Three imports that interact: supersession, links, shared names, two sources."""
    world, other = World(), World("shift", 64)
    implementation = world.implementation("a").digest
    link = ProjectLink(implementation_digest=implementation, project="acme", source="test-bench")
    return [
        [world.row("a", 1000, key="k", stamp="2026-01-01"), world.row("b", 1500)],
        [
            world.row("a", 900, key="k", stamp="2026-01-02", links=(link,)),
            other.row("a", 70, observed="2025-12-30T00:00:00Z"),
        ],
        [world.row("b", 1500, source="another-bench"), other.row("c", 10, status="timeout")],
    ]


def test_rebuild_reproduces_every_derived_row(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        for number, rows in enumerate(make_batches(), start=1):
            import_records(catalog, make_snapshot(str(number)), rows)
        (row, *_) = catalog.runs({"status": "passed"}).rows
        said = Correction(action="retract", run_digest=row.digest, actor="ada", reason="odd")
        correct(catalog, said, at="2026-03-01T00:00:00Z")
        before = dump(catalog)
        assert rebuild(catalog) == 5
        assert dump(catalog) == before
        assert len(before) > 30


@pytest.mark.slow
def test_every_order_of_import_gives_the_same_rows(sqlite_template, tmp_path) -> None:
    dumps = set()
    for number, order in enumerate(itertools.permutations(range(3))):
        url = f"sqlite:///{tmp_path / f'{number}.db'}"
        batches = make_batches()
        with Catalog.create(url) as catalog:
            for index in order:
                import_records(catalog, make_snapshot(str(index)), batches[index])
            dumps.add(b"".join(dump(catalog)))
    assert len(dumps) == 1


@pytest.mark.slow
def test_stale_catalog_asks_for_a_rebuild(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), [World().row("a", 1000)])
        with catalog.writing() as conn:
            set_derived_version(conn, "old")
    with pytest.raises(CatalogError, match="ki catalog rebuild") as caught:
        Catalog.open(catalog_url)
    assert caught.value.code == "catalog.stale"
    with Catalog(catalog_url) as catalog:
        rebuild(catalog)
    with Catalog.open(catalog_url) as catalog:
        assert [cohort.entry_count for cohort in catalog.cohorts()] == [1]


@pytest.mark.slow
def test_newer_snapshot_of_a_source_makes_old_runs_stale(catalog_url: str) -> None:
    world = World()
    row = world.row("a", 1000, observed="2024-01-01T00:00:00Z")
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot("1", fetched="2024-02-01"), [row])
        import_records(catalog, make_snapshot("2", fetched="2026-02-01"), [world.row("b", 5)])
        found = {
            entry.line["title"]: [doubt["code"] for doubt in entry.doubts]
            for entries in catalog.entries([catalog.cohorts()[0].key]).values()
            for entry in entries
        }
        assert ("STALE" in found["a"], "STALE" in found["b"]) == (True, False)
        before = dump(catalog)
        rebuild(catalog)
        assert dump(catalog) == before


@pytest.mark.slow
def test_link_that_comes_later_moves_its_runs(catalog_url: str) -> None:
    world = World()
    row = world.row("a", 1000)
    link = ProjectLink(
        implementation_digest=row.manifests[4].digest, project="acme", source="test-bench"
    )
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), [row])
        only_link = replace(row, manifests=(), observation=None, aliases=(), links=(link,))
        import_records(catalog, make_snapshot("2"), [only_link])
        (run,) = catalog.runs().rows
        assert run.line["project"] == "acme"
        assert [project.slug for project in catalog.projects()] == ["acme"]


DAMAGE = (
    "DELETE FROM names",
    "DELETE FROM operation_specs",
    "DELETE FROM implementations",
    "DELETE FROM search_documents",
    "DELETE FROM cohorts",
    "DELETE FROM run_facts WHERE project = 'acme'",
    "UPDATE operations SET slug = 'gone-' || slug",
    "UPDATE runs SET retracted = 'x', value = 1, source = 'odd'",
    "UPDATE entries SET doc = '{}'",
    "INSERT INTO cohort_heads VALUES ('sha256:gone', 1)",
    "INSERT INTO facets VALUES ('source', 'gone', 3)",
    "INSERT INTO underived_runs VALUES ('sha256:gone')",
)


def execute(catalog: Catalog, statement: str) -> None:
    with catalog.writing() as conn:
        assert conn.execute(text(statement)).rowcount > 0


@pytest.fixture
def imported(catalog_url: str) -> Iterator[Catalog]:
    with Catalog.open(catalog_url) as catalog:
        for number, rows in enumerate(make_batches(), start=1):
            import_records(catalog, make_snapshot(str(number)), rows)
        yield catalog


def test_rebuild_mends_whatever_became_of_derived_rows(imported: Catalog) -> None:
    before = dump(imported)
    for statement in DAMAGE:
        execute(imported, statement)
    assert dump(imported) != before
    assert rebuild(imported) == 5
    assert dump(imported) == before
    assert check(imported) == []
    with imported.reading() as conn:
        scratch = [conn.execute(table.select()).all() for table in derived.WORKING]
    assert scratch == [[]] * len(derived.WORKING)


@pytest.mark.slow
def test_tables_of_another_form_are_made_anew(imported: Catalog) -> None:
    before = dump(imported)
    with imported.writing() as conn:
        conn.execute(text("ALTER TABLE shapes ADD COLUMN odd INTEGER NOT NULL DEFAULT 1"))
    seen: list[str] = []

    def ask(_runs: int) -> None:
        with pytest.raises(CatalogError, match="being rebuilt") as caught, imported.snapshot():
            pass
        seen.append(caught.value.code)

    rebuild(imported, progress=ask)
    assert seen == ["catalog.stale"]
    assert dump(imported) == before


@pytest.mark.slow
def test_a_correction_beside_a_rebuild_counts(imported: Catalog) -> None:
    """It comes between reading and publishing, of a run that was read already."""
    run = imported.runs({"status": "passed"}).rows[0].digest
    said = Correction(action="retract", run_digest=run, actor="ada", reason="odd")
    with Catalog.open(imported.url.render_as_string(hide_password=False)) as other:
        rebuild(imported, progress=lambda _runs: correct(other, said) and None)
    assert check(imported) == []
    assert imported.run(run).retracted == "odd"


def test_readers_are_answered_from_before_until_all_is_new(imported: Catalog) -> None:
    execute(imported, "UPDATE operations SET run_count = 77")
    execute(imported, "UPDATE runs SET source = 'odd'")
    seen: list[tuple[int, int]] = []

    def ask(_runs: int = 0) -> None:
        with imported.snapshot():
            (operation, *_), odd = imported.operations(), imported.runs({"source": "odd"}).rows
            seen.append((operation.run_count, len(odd)))

    rebuild(imported, progress=ask)
    ask()
    assert seen == [(77, 5), (3, 0)]
