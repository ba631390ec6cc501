"""Pages of runs that do not rank: what they say of themselves, and where they lead."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html import unescape

import pytest

from kernelindex.catalog.rows import RunRow
from kernelindex.resolve import ask_text
from kernelindex.resolve.group import show_group
from tests.support import shipped
from tests.web.pages.reading import links_of


@cache
def reasons() -> dict[str, str]:
    withdrawn = set(shipped.withdrawn())
    return {row.digest: str(row.retracted) for row in shipped.all_runs() if row.digest in withdrawn}


@cache
def page(digest: str) -> str:
    return shipped.client().get(f"/runs/{digest[7:19]}").text


def main(digest: str) -> str:
    return page(digest).split("<main", 1)[1]


def read_text(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_the_ladder_of_a_fallen_run_denies_none_of_its_evidence() -> None:
    for digest in shipped.withdrawn():
        said = read_text(main(digest))
        assert "Not yet verified: it lacks a run that stands: this one was withdrawn." in said
        assert "approved by this index" in said
        assert "a signature by a runner key" not in said
    said = read_text(main(shipped.aborted()[0]))
    assert "it lacks a run that passed: this one is aborted." in said
    assert "a signature by a runner key" not in said


def test_a_run_without_a_number_is_at_no_distance_from_a_limit() -> None:
    for digest in (*shipped.withdrawn(), shipped.aborted()[0]):
        assert "None: the run has no number." in main(digest)
        assert "no cost model or no peak" not in main(digest)


def test_the_reason_of_a_retraction_is_said_once() -> None:
    assert len(reasons()) == 16
    for digest, reason in reasons().items():
        assert read_text(main(digest)).count(reason) == 1


def test_runs_are_filtered_and_counted_by_the_status_they_are_shown_by() -> None:
    site = shipped.client()
    offered = re.findall(r'<option value="(\w+)"[^>]*>([^<(]+ \(\d+\))', site.get("/runs").text)
    assert ("withdrawn", f"withdrawn ({len(shipped.withdrawn())})") in offered
    assert "suspected_reward_hack" not in dict(offered)
    found = site.get("/runs?status=withdrawn")
    assert found.status_code == 200
    assert all(digest[7:15] in found.text for digest in shipped.withdrawn())
    accused = site.get("/runs?status=suspected_reward_hack").text
    assert not any(digest[7:15] in accused for digest in shipped.withdrawn())


def test_runs_open_with_what_was_measured_and_count_the_rest() -> None:
    site = shipped.client()
    first = site.get("/runs").text
    links = links_of(first.split("Left out", 1)[1])
    assert links[f"{len(shipped.aborted())} aborted"] == "/runs?status=aborted"
    assert links[f"{len(shipped.withdrawn())} withdrawn"] == "/runs?status=withdrawn"
    assert "Left out" not in site.get(links["List all"]).text
    digest, count = implementation_of_aborted()
    nothing = site.get(f"/runs?implementation={digest}").text
    assert links_of(nothing)[f"{count} aborted"].endswith("&status=aborted")
    assert "No run meets every filter." in nothing


def test_an_implementation_s_page_does_as_the_list_of_runs_does() -> None:
    site, rows = shipped.client(), shipped.all_runs()
    for slug, counts in left_out_by_implementation().items():
        page = site.get(f"/implementations/{slug}").text
        links = links_of(page.split('id="runs"', 1)[1])
        said = {label: href for label, href in links.items() if re.fullmatch(r"\d+ \w+", label)}
        wanted = {f"{count} {status}" for status, count in counts.items()}
        assert said.keys() == wanted
        own = {row.digest for row in rows if row.implementation["slug"] == slug}
        for status, count in counts.items():
            listed = runs_of(site.get(said[f"{count} {status}"]).text)
            assert len(listed & {one[7:] for one in own}) == min(count, 20)
        fallen = {one[7:] for one in (*shipped.aborted(), *shipped.withdrawn())}
        assert not runs_of(page) & fallen
        every = site.get(links["List all"]).text
        assert "Left out" not in every
        assert "Clear" in links_of(every)
    other = next(
        str(row.implementation["slug"]) for row in rows if row.source == "liger-kernel-bench"
    )
    assert "Left out" not in site.get(f"/implementations/{other}").text


def runs_of(page: str) -> set[str]:
    """The digests of the runs that the table of a page lists, without their algorithm."""
    found = re.findall(r'<a class="path" href="/runs/(\w+)"', page)
    whole = [row.digest[7:] for row in shipped.all_runs()]
    return {one for one in whole if any(one.startswith(prefix) for prefix in found)}


def left_out_by_implementation() -> dict[str, dict[str, int]]:
    """Slug > status > how many of its runs were aborted or withdrawn."""
    fallen = {*shipped.aborted(), *shipped.withdrawn()}
    counts: dict[str, dict[str, int]] = {}
    for row in shipped.all_runs():
        if row.digest in fallen:
            own = counts.setdefault(str(row.implementation["slug"]), {})
            status = "withdrawn" if row.retracted else "aborted"
            own[status] = own.get(status, 0) + 1
    assert len(counts) > 1
    return counts


def test_an_implementation_that_was_only_cut_short_is_not_told_to_have_no_run() -> None:
    digest, count = implementation_of_aborted()
    found = shipped.client().get(f"/implementations/{digest[7:19]}", follow_redirects=True).text
    assert links_of(found)[f"{count} aborted"].endswith("?status=aborted")
    assert "There are no runs here yet." not in found


def implementation_of_aborted() -> tuple[str, int]:
    """One that has no run but aborted ones, the one with most, and how many."""
    runs = shipped.all_runs()
    named = [(str(row.implementation["digest"]), row.status) for row in runs]
    measured = {digest for digest, status in named if status != "aborted"}
    counts = Counter(digest for digest, _ in named if digest not in measured)
    return counts.most_common(1)[0]


def test_the_api_lists_what_was_cut_short_where_it_is_asked_for() -> None:
    site = shipped.client()
    usual = site.get("/api/v1/runs?limit=500").json()
    fallen = {*shipped.aborted(), *shipped.withdrawn()}
    every = {row.digest for row in shipped.all_runs()}
    assert {one["digest"] for one in usual["runs"]} == every - fallen
    fell = {"aborted": shipped.aborted(), "withdrawn": shipped.withdrawn()}
    counts = [{"status": status, "runs": len(runs)} for status, runs in fell.items()]
    assert usual["left_out"] == counts
    listed = site.get("/api/v1/runs?limit=500&status=any").json()
    assert ({one["digest"] for one in listed["runs"]}, listed["left_out"]) == (every, [])
    page = site.get("/api/v1/runs?limit=1&gpu=H100").json()
    assert page["left_out"] == []
    after = site.get(f"/api/v1/runs?limit=1&gpu=H100&cursor={page['cursor']}").json()
    assert len(after["runs"]) == 1


def test_the_api_filters_by_the_shown_status_and_says_so() -> None:
    site = shipped.client()
    listed = site.get("/api/v1/runs?status=withdrawn").json()["runs"]
    assert {one["digest"] for one in listed} == set(shipped.withdrawn())
    assert {one["status"] for one in listed} == {"withdrawn"}
    assert site.get("/api/v1/runs?status=suspected_reward_hack").json()["runs"] == []
    assert site.get("/api/v1/runs?status=gone").status_code == 400
    document = site.get("/api/v1/openapi.json").json()
    parameters = document["paths"]["/runs"]["get"]["parameters"]
    (status,) = (one for one in parameters if one["name"] == "status")
    assert {"passed", "aborted", "withdrawn"} <= set(status["schema"]["enum"])


@pytest.mark.slow
def test_no_page_of_a_run_leads_to_a_group_that_is_not_there() -> None:
    site = shipped.client()
    for row in shipped.all_runs():
        links = re.findall(r'href="(/cohorts/\w+)"', page(row.digest))
        assert all(site.get(link).status_code == 200 for link in links)
        assert bool(links) == (shipped.shipped().cohort(str(row.cohort_key)) is not None)
    fallen = shipped.withdrawn()[0]
    compared = site.get(f"/compare?run={fallen[7:19]}&run={shipped.aborted()[0][7:19]}").text
    assert "/cohorts/" not in compared
    assert site.get(f"/api/v1/runs/{fallen[7:19]}").json()["standing"]["cohort"] is None


ASKED = "moe-mlp tokens=8192 experts=64 gpu:H200"
PASSES = ("forward", "backward", "full")


def test_answers_list_every_run_of_the_shape_that_does_not_count() -> None:
    fallen = {row.digest: row for row in of_the_shape() if row.reasons}
    answers = [ask_text(shipped.shipped(), f"{ASKED} pass:{name}") for name in PASSES]
    assert [answer.cohorts_left_out for answer in answers] == [0, 0, 0]
    excluded = [one for answer in answers for one in answer.excluded]
    listed = {one.run for one in excluded}
    assert listed == {digest for digest, row in fallen.items() if row.device["family"] == "H200"}
    withdrawn = {*shipped.withdrawn()} & fallen.keys()
    aborted = {*shipped.aborted()} & fallen.keys()
    assert withdrawn
    assert aborted
    assert withdrawn | aborted < listed
    counts: Counter[str] = Counter()
    for answer in answers:
        counts.update({one.text: one.runs for one in answer.excluded_counts})
    assert counts["the run did not pass: aborted"] == len(aborted)
    assert counts.total() == len(listed)
    retracted = [one.run for one in excluded if one.reasons[0].code == "retracted"]
    assert sorted(retracted) == sorted(withdrawn)


def of_the_shape() -> list[RunRow]:
    return [row for row in shipped.all_runs() if row.operation == "moe-mlp"]


def test_the_page_of_an_answer_counts_by_reason_and_shows_each_reason() -> None:
    text = read_text(shipped.client().get("/answer", params={"q": ASKED}).text)
    rows = of_the_shape()
    aborted = {row.digest for row in rows} & {*shipped.aborted()}
    assert f"{len(aborted)}: the run did not pass: aborted" in text
    said = {reasons()[row.digest] for row in rows if row.digest in reasons()}
    assert said
    for reason in said:
        assert f"retracted: {reason}" in text


def test_another_pass_or_device_is_not_among_what_is_left_out() -> None:
    backward = ask_text(shipped.shipped(), f"{ASKED} pass:backward")
    passes = {row.digest: row.timed_pass for row in shipped.all_runs()}
    assert {passes[one.run] for one in backward.excluded} == {"backward"}
    elsewhere = ask_text(shipped.shipped(), ASKED.replace("H200", "H100"))
    assert not {one.run for one in elsewhere.excluded} & {*shipped.aborted()}


def test_a_group_lists_what_was_aborted_under_its_protocol() -> None:
    rows = {row.digest: row for row in shipped.all_runs()}
    seen: set[str] = set()
    for cohort in shipped.shipped().cohorts(families=["H200"], limit=100):
        group = show_group(shipped.shipped(), cohort.key)
        for one in group.excluded:
            assert rows[one.run].protocol == cohort.protocol
            assert rows[one.run].timed_pass == cohort.timed_pass
            seen.add(one.run)
    assert {*shipped.aborted()} <= seen
