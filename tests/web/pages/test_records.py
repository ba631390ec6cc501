"""Records: changes of leader, and the history of one group."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.web.pages.reading import links_of, read_rows


def test_changes_say_who_was_before_and_by_how_much(site: TestClient) -> None:
    rows = read_rows(site.get("/records?operation=fused-moe&gpu=h100-sxm5-80gb").text)[1:]
    assert len(rows) == 30
    assert all(row[0].startswith("2026-04-02") for row in rows)
    assert rows[0][1] == "Liger fused MoE leads now"


def test_history_of_a_group_has_its_staircase(site: TestClient) -> None:
    listed = site.get("/records?gpu=h200-sxm-141gb").text
    where = links_of(listed)["Fused MoE expert MLP"]
    page = site.get(where).text
    assert "/charts/records/" in page
    assert [row for row in read_rows(page) if "leads now" in row[1]]


def test_a_group_nobody_has_is_missing(site: TestClient) -> None:
    answer = site.get("/records/ffffffffffff")
    assert answer.status_code == 404
    assert "cohort.not_found" in answer.text


def test_oldest_first(hostile: TestClient) -> None:
    assert hostile.get("/records?sort=oldest").status_code == 200
