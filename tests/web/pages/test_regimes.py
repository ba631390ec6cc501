"""Burst and sustained groups of one workload are told apart on every page that names them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from kernelindex.resolve.views import regime_of
from kernelindex.web.charts.chart import Chart, NotDrawn
from kernelindex.web.charts.subjects import chart_of
from tests.support.shipped import client, shipped
from tests.web.charts.factories import words
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
@pytest.mark.slow
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


def test_runs_of_one_workload_are_told_apart_in_lists() -> None:
    """By the same words that the group of each is called by."""
    regimes = {row.key: regime_of(row) for row in shipped().cohorts(profile="controlled")}
    entries = shipped().entries(list(regimes))
    ours = next(one[0].implementation["slug"] for one in entries.values())
    for path in ("/runs?operation=moe-mlp&pass=backward", f"/implementations/{ours}"):
        cells = [cell for row in read_rows(client().get(path).text) for cell in row]
        said = [cell for cell in cells if cell.startswith("H200 SXM 141GB")]
        found = {one for one in regimes.values() if any(cell.endswith(one) for cell in said)}
        assert {"burst", "sustained"} <= {word for one in found for word in one.split(", ")}
        assert not [cell for cell in said if cell.endswith(("forward", "backward", "full"))]


@pytest.mark.parametrize("kind", ["cohort", "records", "samples", "limit"])
def test_charts_say_the_regime_in_the_words_of_the_pages(kind: Any) -> None:
    rows = shipped().cohorts(profile="controlled")
    entries = shipped().entries([row.key for row in rows])
    said = []
    for row in rows:
        of = row.key if kind in ("cohort", "records") else entries[row.key][0].run_digest
        chart = chart_of(shipped(), kind, of)
        if kind == "records" and isinstance(chart, NotDrawn):
            continue  # a group whose leader never changed
        assert isinstance(chart, Chart)
        over = " ".join(words(chart)[:4])
        assert regime_of(row) in over
        said.append(over)
    assert len(set(said)) == len(said) > 1


def test_one_kernel_in_two_regimes_is_two_names_of_a_chart() -> None:
    pair = [
        shipped().entries([row.key], first=1)[row.key][0].run_digest
        for row in shipped().cohorts(profile="controlled", passes=("backward",))
        if row.operation == "moe-mlp" and row.protocol.get("version") == "1"
    ]
    chart = chart_of(shipped(), "ecdf", "/".join(pair))
    assert isinstance(chart, Chart)
    names = {str(row[0]) for row in chart.table.rows}
    assert names == {"KernelIndex moe_mlp, burst", "KernelIndex moe_mlp, sustained"}
    roofline = chart_of(shipped(), "roofline", "moe-mlp/h200-sxm-141gb/backward")
    assert isinstance(roofline, Chart)
    points = [row[:2] for row in roofline.table.rows]
    assert len(set(points)) == len(points)
    assert ("KernelIndex moe_mlp", "(controlled, sustained, leaf weights)") in points
    assert "KernelIndex runner" in roofline.source
    assert "H200 measurements" in roofline.source


@pytest.mark.slow
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
