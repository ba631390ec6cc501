"""What a snapshot's reader did not take is kept by reason, once, and exported."""

from __future__ import annotations

from kernelindex.catalog import Catalog, export_to, import_records, load_export
from tests.catalog.factories import World, make_snapshot, skipped


def test_skipped_rows_are_counted_once_by_reason(catalog_url: str) -> None:
    rows = [World().row("fast", 1000), skipped(), skipped(), skipped("bad_number")]
    with Catalog.create(catalog_url) as catalog:
        import_records(catalog, make_snapshot(), rows)
        import_records(catalog, make_snapshot(), rows)
        found = catalog.skips()
    assert [(row.reason, row.count) for row in found] == [("blank_row", 2), ("bad_number", 1)]


def test_an_export_carries_the_counts(sqlite_url: str, tmp_path) -> None:
    with Catalog.create(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), [World().row("fast", 1000), skipped()])
        export_to(catalog, tmp_path / "x.jsonl.zst")
        counted = catalog.skips()
    with Catalog.create(f"sqlite:///{tmp_path / 'other.db'}") as other:
        load_export(other, tmp_path / "x.jsonl.zst")
        assert other.skips() == counted
        assert counted[0].count == 1
