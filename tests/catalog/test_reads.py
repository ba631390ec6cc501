"""Reads: identifiers, filters, pages, search, and their limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.catalog import Catalog, import_records
from kernelindex.errors import CatalogError, RequestError
from tests.catalog.factories import World, make_implementation, make_snapshot


@pytest.fixture
def catalog(catalog_url: str):
    world, other = World("rowscale", 1024), World("colscale", 64)
    rows = [
        world.row("fast", 1000, observed="2026-01-05T00:00:00Z"),
        world.row("slow", 3000, observed="2026-01-04T00:00:00Z"),
        other.row("fast", 70, observed="2026-01-03T00:00:00Z"),
    ]
    with Catalog.create(catalog_url) as opened:
        import_records(opened, make_snapshot(), rows)
        yield opened


def test_alias_wins_over_everything(catalog: Catalog) -> None:
    (found,) = catalog.find("id-fast-1000")
    digest = World("rowscale").run("fast", 1000, observed="2026-01-05T00:00:00Z").digest
    assert (found.kind, found.digest, found.via) == ("BenchmarkRun", digest, "alias")


def test_shared_name_finds_all_and_each_has_its_own_slug(catalog: Catalog) -> None:
    found = catalog.find("fast")
    assert [(one.kind, one.via) for one in found] == [("ImplementationRevision", "name")] * 2
    slugs = [one.slug for one in found]
    assert slugs == [f"fast-{one.digest[7:15]}" for one in found]
    assert [catalog.find(slug)[0].digest for slug in slugs] == [one.digest for one in found]


def test_slug_that_is_alone_again_is_still_found_by_its_long_form(sqlite_url: str) -> None:
    world = World()
    with Catalog.create(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), [world.row("fast", 1)])
        digest = world.implementation("fast").digest
        assert [one.via for one in catalog.find("fast")] == ["slug"]
        (found,) = catalog.find(f"fast-{digest[7:15]}")
        assert found.digest == digest


def test_digest_prefix_finds_and_kind_restricts(catalog: Catalog) -> None:
    digest = World("rowscale").workload.digest
    assert [one.digest for one in catalog.find(digest[7:19])] == [digest]
    assert catalog.find(digest[7:19], "BenchmarkRun") == []
    assert catalog.find("abc") == []


def test_manifest_comes_back_as_it_was(catalog: Catalog) -> None:
    workload = World("rowscale").workload
    stored = catalog.manifest(workload.digest)
    assert stored is not None
    assert stored.document == workload.document
    assert catalog.manifest("sha256:" + "0" * 64) is None


def test_run_has_rank_sources_and_source_rows(catalog: Catalog) -> None:
    (found,) = catalog.find("id-slow-3000")
    row = catalog.run(found.digest)
    assert row is not None
    assert row.rank is not None
    assert (row.rank["low"], row.rank["high"]) == (2, 2)
    assert row.source_rows[0]["row"] == {"name": "slow", "ns": 3000}
    assert (row.aliases, row.published_at) == (("id-slow-3000",), "2026-01-03")
    assert row.implementation["slug"] == "slow"


def test_runs_page_newest_first_and_the_cursor_keeps_its_filters(catalog: Catalog) -> None:
    first = catalog.runs(limit=2)
    assert [run.value for run in first.rows] == [1000, 3000]
    second = catalog.runs(limit=2, cursor=first.cursor)
    assert ([run.value for run in second.rows], second.cursor) == ([70], None)
    with pytest.raises(RequestError) as caught:
        catalog.runs({"status": "passed"}, cursor=first.cursor)
    assert caught.value.code == "request.cursor"
    with pytest.raises(RequestError, match="comparison_key"):
        catalog.runs({"colour": "red"})
    with pytest.raises(RequestError, match="1 to 500"):
        catalog.runs(limit=501)


def test_runs_filter_by_what_is_indexed(catalog: Catalog) -> None:
    operation = World("colscale").operation.digest
    assert [run.value for run in catalog.runs({"operation": operation}).rows] == [70]
    assert len(catalog.runs({"hardware": "h100-sxm5-80gb", "status": "passed"}).rows) == 3


def test_cohorts_filter_by_axes_dtypes_and_device(catalog: Catalog) -> None:
    operation = World("rowscale").operation.digest
    assert [c.axes for c in catalog.cohorts(axes={"n": 64})] == [{"n": 64}]
    assert catalog.cohorts(axes={"n": 6}) == []
    assert len(catalog.cohorts(operation=operation, dtypes=["fp32"], families=["H100"])) == 1
    assert catalog.cohorts(operation=operation, product_ids=["b200-sxm-180gb"]) == []
    assert catalog.cohorts(passes=["forward"]) == []
    (cohort,) = catalog.cohorts(operation=operation)
    assert catalog.cohort(cohort.key[7:20]) == cohort


def test_shapes_and_operations_count_what_is_measured(catalog: Catalog) -> None:
    operation = World("rowscale").operation.digest
    (shape,) = catalog.shapes(operation)
    assert (shape.axes, shape.cohort_count, shape.run_count) == ({"n": 1024}, 1, 2)
    assert shape.devices == {"h100-sxm5-80gb": 1}
    assert catalog.shapes(operation, device="l4") == []
    row = catalog.operation(operation)
    assert row is not None
    assert (row.title, row.run_count, row.implementation_count) == ("rowscale", 2, 2)
    assert [row.run_count for row in catalog.operations()] == [2, 1]
    (gpu,) = catalog.hardware()
    assert (gpu.id, gpu.run_count) == ("h100-sxm5-80gb", 3)


def test_implementations_page_by_digest(catalog: Catalog) -> None:
    first = catalog.implementations(limit=2)
    rest = catalog.implementations(limit=2, cursor=first.cursor)
    digests = [row.digest for row in (*first.rows, *rest.rows)]
    assert digests == sorted(digests)
    assert len(digests) == 3


def test_search_finds_whole_words_first_and_suggests_spellings(catalog: Catalog) -> None:
    answer = catalog.search_text("h100")
    assert [(hit.kind, hit.slug) for hit in answer.hits] == [("hardware", "h100-sxm5-80gb")]
    assert [hit.kind for hit in catalog.search_text("rowscale").hits] == ["operation"]
    assert [hit.kind for hit in catalog.search_text("rowsc").hits] == ["operation"]
    wrong = catalog.search_text("rowscael")
    assert (wrong.hits, wrong.suggestions[0]) == ((), "rowscale")
    assert catalog.search_text("'; DROP \"*").hits == ()
    assert catalog.search_text("--").hits == ()


def test_search_for_words_of_several_things_finds_each(catalog: Catalog) -> None:
    hits = catalog.search_text("rowscale h100").hits
    assert {hit.kind for hit in hits} == {"operation", "hardware"}
    mixed = catalog.search_text("colscale nothinglikeit")
    assert [hit.title for hit in mixed.hits] == ["colscale"]
    assert catalog.search_text("RÖWSCALE").hits[0].title == "rowscale"


def test_what_holds_few_of_the_words_is_suggested_and_no_hit(catalog: Catalog) -> None:
    few = catalog.search_text("colscale nothinglikeit either")
    assert (few.hits, few.suggestions[0]) == ((), "colscale")
    letters = catalog.search_text("c r nothinglikeit")  # each begins a name
    assert letters.hits == ()


def test_search_follows_names_that_change(catalog: Catalog) -> None:
    slugs = {hit.slug for hit in catalog.search_text("fast").hits}
    assert all(slug.startswith("fast-") for slug in slugs)
    assert len(slugs) == 2
    world = World("rowscale")
    third = make_implementation(world.operation, "slow", "2.0")
    row = replace(world.row("slow", 1), manifests=(third,), observation=None, aliases=())
    import_records(catalog, make_snapshot("2"), [row])
    assert len(catalog.search_text("slow").hits) == 2
    assert all(hit.slug.startswith("slow-") for hit in catalog.search_text("slow").hits)


def test_record_events_name_leaders_and_causes(catalog: Catalog) -> None:
    page = catalog.records()
    (event,) = page.rows
    assert (event.cause, event.current, event.value) == ("first_comparison", True, 1000)
    assert catalog.records({"hardware": "l4"}).rows == ()


def test_reading_stops_at_the_time_limit(catalog_url: str) -> None:
    from sqlalchemy import text

    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    with Catalog.open(catalog_url, read_limit_s=0.2) as catalog:
        with pytest.raises(CatalogError) as caught, catalog.reading() as conn:
            conn.execute(text(endless))
        assert caught.value.code == "catalog.read_time_limit"
        assert catalog.operations() == []


def test_readers_cannot_write(catalog_url: str) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError

    with (
        Catalog.open(catalog_url) as catalog,
        pytest.raises(DBAPIError),
        catalog.reading() as conn,
    ):
        conn.execute(text("DELETE FROM manifests"))


def test_parts_of_a_run_are_those_read_one_by_one(catalog: Catalog) -> None:
    for run in catalog.runs().rows:
        parts = catalog.parts(run)
        assert parts.cohort == catalog.cohort(run.cohort_key or "")
        assert parts.others == ()
        assert set(parts.documents) >= {"run", "workload", "operation", "implementation"}
        assert parts.documents["run"] == catalog.documents([run.digest])[run.digest]
        read = catalog.run(run.digest)
        assert read is not None
        assert (read.rank, read.doubts, read.evidence) == (run.rank, run.doubts, run.evidence)


def test_relatives_have_the_best_of_the_line_its_revision_and_the_best_other(
    catalog: Catalog,
) -> None:
    (slow,) = [run for run in catalog.runs().rows if run.value == 3000]
    (beside,) = catalog.relatives(slow)
    assert [entry.value for entry in beside.own] == [3000]
    assert beside.other is not None
    assert beside.other.value == 1000
