"""Burst and sustained groups of one workload are told apart on every page that names them."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree as ET

import pytest

from tests.support.shipped import client, shipped
from tests.web.pages.reading import read_rows

ATOM = "{http://www.w3.org/2005/Atom}"
GROUPS = 12


def controlled() -> list[str]:
    """The groups of our own protocol, by key."""
    return [row.key for row in shipped().cohorts(profile="controlled")]


def page_title(path: str) -> str:
    found = re.search(r"<title>(.*?)</title>", client().get(path).text, re.DOTALL)
    assert found is not None
    return unescape(found[1])


@pytest.mark.parametrize("path", ["/", "/records"])
def test_a_record_leads_to_the_run_of_the_leader_it_names(path: str) -> None:
    linked = re.findall(
        r'<th scope="row" class="what"><a class="name" href="(/runs/[^"]+)">(?:<bdi>)?([^<]+)',
        client().get(path).text,
    )
    assert linked
    for target, leader in linked:
        heading = re.search(r"<h1><bdi>(.*?)</bdi>", client().get(target).text)
        assert heading is not None
        assert heading[1] == leader


def test_no_two_records_of_a_list_name_the_same_group() -> None:
    rows = read_rows(client().get("/records").text)
    groups = [row[-1] for row in rows]
    assert len(groups) >= GROUPS
    assert len(set(groups)) == len(groups)
    root = ET.fromstring(client().get("/feeds/records.atom?limit=50").content)
    titles = [entry.findtext(f"{ATOM}title") for entry in root.iter(f"{ATOM}entry")]
    assert len(set(titles)) == len(titles) >= GROUPS


def test_no_change_is_between_an_entry_and_itself_and_a_day_has_one() -> None:
    rows = shipped().records(limit=200).rows
    assert rows
    assert not [row for row in rows if row.line and row.line == row.previous_line]
    days = [(row.cohort_key, row.date) for row in rows]
    assert len(set(days)) == len(days)


def test_groups_of_an_operation_are_told_apart() -> None:
    rows = read_rows(client().get("/operations/moe-mlp").text)
    settings = [tuple(row[:2]) for row in rows if row[0].startswith("experts=")]
    assert len(settings) >= GROUPS
    assert len(set(settings)) == len(settings)


def test_titles_of_groups_histories_and_runs_are_their_own() -> None:
    keys = controlled()
    for folder in ("cohorts", "records"):
        titles = {page_title(f"/{folder}/{key.removeprefix('sha256:')}") for key in keys}
        assert len(titles) == len(keys) > 1
    entries = shipped().entries(keys)
    runs = [
        one.run_digest.removeprefix("sha256:")
        for key in keys
        for one in entries[key]
        if one.line["id"] == "kernelindex/moe_mlp"
    ]
    found = [client().get(f"/api/v1/runs/{run}").json() for run in runs]
    assert len({one["title"] for one in found}) == len(runs) > 1
    for one in found:
        others = [(other["pass"], other["regime"]) for other in one["siblings"]]
        assert len(set(others)) == len(others) > 1
