"""A group's page: its rows in order, what is equal in them, its history."""

from __future__ import annotations

import pytest

from tests.support.html import Document
from tests.support.site import client, record, record_runs


@pytest.fixture(scope="module")
def page() -> Document:
    answer = client().get(f"/cohorts/{record().cohorts[0].key[7:19]}")
    assert answer.status_code == 200
    return Document(answer.text)


def test_rows_stand_in_rank_order(page: Document) -> None:
    names = [one.text for one in page.find("a", class_="name")]
    assert names[:2] == ["Liger fused MoE", "Loop over experts in Liger's script"]


def test_what_is_equal_is_said_once(page: Document) -> None:
    pairs = page.pairs()
    assert pairs["Pass"] == "backward"
    assert "sm_90" in pairs["Device"]
    assert pairs["Metric"] == "median latency in ns, lower is better"
    assert "gradients non leaf" in pairs["Its rules"]


def test_a_doubt_that_all_rows_share_is_said_once(page: Document) -> None:
    assert page.text.count("no software versions") == 1


def test_the_runs_can_be_compared(page: Document) -> None:
    leader, loop = record_runs()
    assert f"/compare?run={leader[7:19]}&run={loop[7:19]}" in page.links()


def test_the_chart_has_words_and_its_numbers(page: Document) -> None:
    (image,) = page.find("img", class_="chart")
    assert "Liger fused MoE" in image.attrs["alt"]
    assert any(link.startswith("/charts/cohort/") and ".csv" in link for link in page.links())


def test_an_unknown_key_is_not_found() -> None:
    answer = client().get("/cohorts/00000000ffff")
    assert answer.status_code == 404
    assert "cohort.not_found" in answer.text
