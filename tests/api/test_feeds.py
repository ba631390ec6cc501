"""Feeds and files for crawlers."""

from __future__ import annotations

from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from kernelindex.api import feeds
from kernelindex.api.feeds.atom import build_feed, summary_of, title_of
from kernelindex.catalog import Catalog
from kernelindex.resolve.dossier import RecordLine, RecordList
from tests.api.factories import BASE

ATOM = "{http://www.w3.org/2005/Atom}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def line(**changes: object) -> RecordLine:
    fields: dict[str, object] = {
        "cohort": "sha256:" + "c" * 64,
        "date": "2026-04-02",
        "cause": "new_run",
        "operation": "moe-mlp",
        "operation_title": "Fused MoE",
        "axes": {"tokens": 8},
        "timed_pass": "backward",
        "hardware": "H100",
        "run": "sha256:" + "a" * 64,
        "leader": "fast",
        "value": 2e6,
        "unit": "ns",
        "previous": "slow",
        "previous_value": 4e6,
        "ratio": 2.0,
        "current": True,
    }
    return RecordLine.model_validate({**fields, **changes})


def locations(client: TestClient, path: str) -> list[str]:
    root = ET.fromstring(client.get(path).content)
    return [str(one.text) for one in root.iter(f"{SITEMAP}loc")]


def test_a_feed_has_what_atom_demands(client: TestClient) -> None:
    answer = client.get("/feeds/records.atom?limit=2")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    root = ET.fromstring(answer.content)
    entries = root.findall(f"{ATOM}entry")
    assert len(entries) == 2
    for element in (root, *entries):
        assert all(element.find(f"{ATOM}{tag}") is not None for tag in ("id", "title", "updated"))
    ids = [str(one.findtext(f"{ATOM}id")) for one in entries]
    assert len(set(ids)) == 2
    assert all(one.startswith("tag:kernelindex.dev,2026:record:") for one in ids)


def test_words_of_an_entry() -> None:
    assert title_of(line()) == "fast leads Fused MoE backward on H100"
    assert summary_of(line()) == "2.00 ms after 4.00 ms of slow, 2.00x; tokens=8; cause: new run"
    assert title_of(line(leader=None, timed_pass="unstated")) == "Several lead Fused MoE on H100"


def test_hostile_names_leave_the_feed_well_formed() -> None:
    hostile = "<b>&\x00\x1b\u202eevil\ufffe"
    records = RecordList(records=(line(leader=hostile),))
    root = ET.fromstring(build_feed(records, base="https://x", own="/feeds/records.atom"))
    title = root.findtext(f"{ATOM}entry/{ATOM}title") or ""
    assert title.startswith("<b>&\\u0000\\u001b\\u202eevil\\ufffe leads")


def test_ids_do_not_depend_on_the_deployment() -> None:
    records = RecordList(records=(line(),))
    one, other = (
        ET.fromstring(build_feed(records, base=base, own="/f"))
        for base in ("https://a", "https://b")
    )
    path = f"{ATOM}entry/{ATOM}id"
    assert one.findtext(path) == other.findtext(path)


def test_every_sitemap_is_there_and_every_run_is_named_once(client: TestClient) -> None:
    parts = [urlsplit(one).path for one in locations(client, "/sitemap.xml")]
    assert len(parts) == 18
    named = [url for part in parts for url in locations(client, part)]
    runs = [url for url in named if "/runs/" in url]
    listed = client.get(f"{BASE}/runs?limit=500").json()["runs"]
    assert len(runs) == len(set(runs)) == len(listed)
    assert "http://testserver/operations/moe-mlp" in named
    assert "http://testserver/hardware/h100-sxm5-80gb" in named


@pytest.mark.parametrize("name", ["runs-g", "runs-", "runs-abc", "other", "runs-%2e"])
def test_no_other_sitemap(client: TestClient, name: str) -> None:
    assert client.get(f"/sitemaps/{name}.xml").json()["code"] == "route.not_found"


def test_a_public_address_is_used_where_it_is_given(starter: Catalog) -> None:
    app = Starlette(routes=feeds.routes(starter, base="https://index.example"))
    text = TestClient(app).get("/robots.txt").text
    assert "Sitemap: https://index.example/sitemap.xml" in text
    assert "Disallow: /answer" in text


ABSOLUTE = (
    "/feeds/records.atom",
    "/sitemap.xml",
    "/sitemaps/objects.xml",
    "/robots.txt",
    "/llms.txt",
)


@pytest.mark.parametrize("path", ABSOLUTE)
def test_a_stated_host_is_never_kept_for_others(starter: Catalog, path: str) -> None:
    asked = {"Host": "evil.example"}
    unknown = TestClient(Starlette(routes=feeds.routes(starter)))
    answer = unknown.get(path, headers=asked)
    assert answer.headers["cache-control"] == "private, max-age=300"
    known = TestClient(Starlette(routes=feeds.routes(starter, base="https://index.example")))
    answer = known.get(path, headers=asked)
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert "evil.example" not in answer.text


def test_llms_txt_names_addresses_that_answer(client: TestClient) -> None:
    text = client.get("/llms.txt").text
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    paths = [link.removeprefix("http://testserver") for link in links]
    assert len(paths) >= 9
    for path in paths:
        if path != "/methodology":
            assert client.get(path).status_code == 200, path


def test_feeds_answer_conditional_requests_and_refuse_like_the_api(client: TestClient) -> None:
    tag = client.get("/llms.txt").headers["etag"]
    assert client.get("/llms.txt", headers={"If-None-Match": tag}).status_code == 304
    refused = client.get("/feeds/records.atom?operation=nothing-such")
    assert refused.json()["code"] == "request.operation_unknown"


def test_an_entry_leads_to_the_leaders_run_and_says_how_it_was_timed() -> None:
    """The causing run may be another entry's: the one that made a comparison possible."""
    regime = "controlled protocol 1, burst, leaf weights"
    found = line(leader_run="sha256:" + "b" * 64, regime=regime)
    root = ET.fromstring(build_feed(RecordList(records=(found,)), base=BASE, own="/feed"))
    links = {one.get("rel"): one.get("href") for one in root.iter(f"{ATOM}link")}
    assert links["related"] == f"{BASE}/runs/{'b' * 12}"
    assert title_of(found) == f"fast leads Fused MoE backward on H100 ({regime})"
