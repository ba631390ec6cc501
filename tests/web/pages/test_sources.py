"""Sources: licence, freshness, what was not taken and why, how far they repeat."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.resolve.skip_reasons import REASONS, reason_words
from kernelindex.site import create_app
from kernelindex.web.pages.sources import _after
from tests.catalog.factories import World, make_snapshot, skipped
from tests.web.pages.reading import read_rows, row_of


def test_a_source_has_its_licence_credit_and_dispersion(site: TestClient) -> None:
    page = site.get("/sources/liger-kernel-bench").text
    assert "BSD-2-Clause" in page
    assert "LinkedIn Corporation" in page
    assert "nine in ten lie within 11.7 %" in page
    assert "differ by less than 23.7 %" in page
    assert "Harness work in timed region" in page
    assert "Every row of it was taken." in page


def test_rows_not_taken_are_counted_by_reason(hostile: TestClient) -> None:
    listed = read_rows(hostile.get("/sources?imported=yes").text)
    assert listed[1][2:4] == ["5", "1"]
    page = hostile.get(f"/sources/{listed[1][0][len(listed[1][0]) // 2 :]}").text
    assert ["1", "the row is empty", "blank_row"] in read_rows(page)


def test_rows_not_taken_of_a_shared_file_are_not_told_as_each_sources(tmp_path: Path) -> None:
    first, second = World(), World("second")
    rows = [first.row("a", 1000), second.row("b", 2000, source="other"), skipped()]
    with Catalog.create(f"sqlite:///{tmp_path / 'ki.db'}") as catalog:
        import_records(catalog, make_snapshot(), rows)
        with TestClient(create_app(catalog=catalog, cache=tmp_path / "charts")) as client:
            page = client.get("/sources?imported=yes").text
    assert [row[3] for row in read_rows(page)[1:]] == ["1*", "1*"]
    assert "one file that several of these sources share" in page


def test_known_sources_that_were_not_imported_are_told_apart(site: TestClient) -> None:
    page = site.get("/sources?imported=no").text
    assert row_of(page, "MLPerf")[2:] == ["none", "", "", "not imported here"]
    assert "liger-kernel-bench" not in page


def test_an_unknown_source_is_missing(site: TestClient) -> None:
    assert site.get("/sources/nobody").status_code == 404


@pytest.mark.parametrize(
    ("day", "days", "due"),
    [
        ("2026-11-30", 90, "2027-02-28"),
        ("2026-11-30", None, ""),
        ("", 5, ""),
        ("9999-12-31", 5, ""),
    ],
)
def test_when_something_new_is_due(day: str, days: int | None, due: str) -> None:
    assert _after(day, days) == due


def test_reasons_have_words_and_unknown_ones_their_own() -> None:
    assert reason_words("dtype_unknown") == REASONS["dtype_unknown"]
    assert reason_words("evidence.signature").endswith("no key that was given signed the statement")
    assert reason_words("canonical.too_large") == "canonical: too large"
