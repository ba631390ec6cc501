"""Importing: what becomes visible, what is counted, and that order does not matter."""

from __future__ import annotations

from dataclasses import replace

from kernelindex.catalog import Catalog, import_records
from tests.catalog.factories import World, make_snapshot, skipped


def test_import_ranks_two_entries_of_one_cohort(catalog_url: str) -> None:
    world = World()
    with Catalog.create(catalog_url) as catalog:
        rows = [world.row("slow", 3000), world.row("fast", 1000), skipped()]
        report = import_records(catalog, make_snapshot(), rows)
        assert (report.read, report.added, report.existing) == (3, 2, 0)
        assert report.skipped == {"blank_row": 1}
        assert report.becomes["BenchmarkRun"] == 2
        (cohort,) = catalog.cohorts()
        entries = catalog.entries([cohort.key])[cohort.key]
    assert [(e.implementation["slug"], e.rank_low, e.rank_high) for e in entries] == [
        ("fast", 1, 1),
        ("slow", 2, 2),
    ]
    assert entries[1].ratio_to_leader == 3.0
    assert cohort.device["product_id"] == "h100-sxm5-80gb"


def test_importing_again_changes_nothing(catalog_url: str) -> None:
    world = World()
    rows = [world.row("a", 1000), world.row("b", 2000)]
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), rows)
        before = catalog.cohorts()
        report = import_records(catalog, make_snapshot(), rows)
        assert (report.added, report.existing, report.superseding) == (0, 2, 0)
        assert report.becomes == {}
        assert catalog.cohorts() == before


def test_dry_run_counts_and_publishes_nothing(catalog_url: str) -> None:
    world = World()
    with Catalog.create(catalog_url) as catalog:
        report = import_records(catalog, make_snapshot(), [world.row("a", 1000)], dry_run=True)
        assert (report.dry_run, report.added) == (True, 1)
        assert catalog.cohorts() == []
        assert catalog.find("a") == []
        assert import_records(catalog, make_snapshot(), [world.row("a", 1000)]).added == 1


def test_newer_stamp_of_a_row_key_supersedes_in_any_order(catalog_url: str) -> None:
    world = World()
    old = world.row("a", 1000, key="k", stamp="2026-01-01 10:00:00")
    new = world.row("a", 900, key="k", stamp="2026-01-02 10:00:00")
    with Catalog.create(catalog_url) as catalog:
        report = import_records(catalog, make_snapshot(), [new, old])
        assert (report.added, report.superseding) == (1, 1)
        row = catalog.run(old.observation.run_digest)
        assert row is not None
        assert row.superseded_by == new.observation.run_digest
        assert [reason["code"] for reason in row.reasons] == ["superseded"]
        (cohort,) = catalog.cohorts()
        (entry,) = catalog.entries([cohort.key])[cohort.key]
        assert (entry.value, cohort.only_result) == (900, True)


def test_same_event_with_a_higher_parser_version_supersedes(catalog_url: str) -> None:
    world = World()
    first = world.row("a", 1000, external="job/1")
    second = world.row("a", 1001, external="job/1")
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(version=2), [second])
        report = import_records(catalog, make_snapshot("2", version=1), [first])
        assert (report.added, report.superseding) == (1, 0)
        row = catalog.run(first.observation.run_digest)
        assert row is not None
        assert row.superseded_by == second.observation.run_digest


def test_of_two_digests_of_one_event_the_smaller_is_head(catalog_url: str) -> None:
    world = World()
    rows = [world.row("a", ns, external="job/1") for ns in (1000, 1001, 1002)]
    digests = sorted(row.observation.run_digest for row in rows)
    with Catalog.create(catalog_url) as catalog:
        report = import_records(catalog, make_snapshot(), rows)
        assert (report.added, report.superseding) == (2, 1)
        standing = [catalog.run(digest).superseded_by for digest in digests]
    assert standing == [None, digests[0], digests[0]]


def test_parts_may_come_after_the_run_or_in_a_later_import(catalog_url: str) -> None:
    world = World()
    whole = world.row("a", 1000)
    run_only = replace(whole, manifests=whole.manifests[-1:])
    parts = replace(whole, manifests=whole.manifests[:-1], observation=None, aliases=())
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), [run_only])
        assert catalog.cohorts() == []
        assert catalog.find(whole.observation.run_digest)[0].kind == "BenchmarkRun"
        import_records(catalog, make_snapshot("2"), [parts])
        (cohort,) = catalog.cohorts()
        assert cohort.entry_count == 1


def test_failed_run_is_excluded_with_its_reason(catalog_url: str) -> None:
    world = World()
    with Catalog.create(catalog_url) as catalog:
        rows = [world.row("a", 1000), world.row("b", 2000, status="runtime_error")]
        import_records(catalog, make_snapshot(), rows)
        (excluded,) = catalog.excluded(operation=world.operation.digest)
        assert excluded.reasons[0]["code"] == "not_passed"
        assert excluded.line_title == "b"


def test_newest_edition_of_metadata_is_shown(catalog_url: str) -> None:
    world = World()
    row = world.row("a", 1000)
    implementation = row.manifests[4]
    document = implementation.document | {"metadata": {"name": "a", "title": "Better"}}
    from kernelindex.manifests import parse

    renamed = replace(row, manifests=(parse(document),), observation=None, aliases=())
    newer, older = make_snapshot("2", fetched="2026-03-01"), make_snapshot("1")
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, newer, [renamed])
        import_records(catalog, older, [row])
        stored = catalog.manifest(implementation.digest)
        assert stored is not None
        assert stored.title == "Better"
        (cohort,) = catalog.cohorts()
        (entry,) = catalog.entries([cohort.key])[cohort.key]
        assert (entry.implementation["title"], entry.line["title"]) == ("Better", "Better")
