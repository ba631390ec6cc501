"""Pages of runs that do not rank: what they say of themselves, and where they lead."""

from __future__ import annotations

import re
from functools import cache
from html import unescape

from tests.support import shipped

REASONS = {
    digest: str(row.retracted)
    for digest in shipped.withdrawn()
    for row in shipped.all_runs()
    if row.digest == digest
}


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
    assert len(REASONS) == 2
    for digest, reason in REASONS.items():
        assert read_text(main(digest)).count(reason) == 1


def test_runs_are_filtered_and_counted_by_the_status_they_are_shown_by() -> None:
    site = shipped.client()
    offered = re.findall(r'<option value="(\w+)"[^>]*>([^<(]+ \(\d+\))', site.get("/runs").text)
    assert ("withdrawn", "withdrawn (2)") in offered
    assert "suspected_reward_hack" not in dict(offered)
    found = site.get("/runs?status=withdrawn")
    assert found.status_code == 200
    assert [digest[7:15] in found.text for digest in shipped.withdrawn()] == [True, True]
    assert site.get("/runs?status=suspected_reward_hack").status_code == 400


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
