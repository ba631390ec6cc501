"""What holds of the page of every run that travels in the package."""

from __future__ import annotations

import json
import re
from functools import cache
from html import unescape

import pytest

from tests.support import shipped
from tests.web.pages.reading import links_of, read_rows

pytestmark = pytest.mark.slow

MOST_BYTES = 25_000
CLOSE_PERCENT = re.compile(r".{0,40}\d%.{0,20}")


@cache
def bodies() -> dict[str, str]:
    """Pages by digest."""
    return {
        run.digest: shipped.client().get(f"/runs/{run.digest[7:19]}").text
        for run in shipped.all_runs()
    }


def test_percent_is_written_one_way() -> None:
    said = [re.sub(r"<pre.*?</pre>", "", body, flags=re.DOTALL) for body in bodies().values()]
    texts = [unescape(re.sub(r"<[^>]+>", " ", one)) for one in said]
    assert [found[0] for text in texts if (found := CLOSE_PERCENT.search(text))] == []
    assert any("within 5 % of the rerun (the least tolerance, 5 %)" in text for text in texts)


def test_no_page_is_heavier_than_it_may_be() -> None:
    sizes = {digest: len(body.encode()) for digest, body in bodies().items()}
    assert sum(run.evidence == "verified" for run in shipped.all_runs()) > 20
    assert {digest: size for digest, size in sizes.items() if size > MOST_BYTES} == {}


def test_a_long_manifest_has_a_page_of_its_own() -> None:
    (long, *_) = [run.digest for run in shipped.all_runs() if run.evidence == "verified"]
    page = bodies()[long]
    href = links_of(page)["The manifest whose digest names this run"]
    assert href == f"/runs/{long[7:19]}/manifest"
    told = shipped.client().get(href)
    stored = re.search(r"<pre[^>]*>(.*?)</pre>", told.text, re.DOTALL)
    assert stored is not None
    document = shipped.shipped().manifest(long)
    assert document is not None
    assert json.loads(unescape(stored[1])) == document.document
    assert shipped.client().get("/runs/0123456789ab/manifest").status_code == 404


def test_kernels_of_a_call_are_told_apart_though_their_names_are_shortened() -> None:
    cut = 0
    for run, body in bodies().items():
        listed = body.partition('id="executed"')[2].partition("</section>")[0]
        names = [row[0] for row in read_rows(listed)[1:]]
        stored = shipped.shipped().manifest(run)
        assert stored is not None
        whole = {one["kernel"] for one in stored.document["spec"].get("executed") or ()}
        assert len(set(names)) == min(len(whole), 8), run
        cut += any("…" in name for name in names)
        assert ("whole names are in the" in listed) == any("…" in name for name in names)
    assert cut > 20


def test_an_artifact_is_told_of_once() -> None:
    for run in shipped.all_runs():
        stored = shipped.shipped().manifest(run.digest)
        assert stored is not None
        artifact = stored.document["spec"].get("telemetry", {}).get("artifact")
        if artifact:
            assert artifact["digest"] in bodies()[run.digest]
            assert f"<dd>{artifact['digest']}" not in bodies()[run.digest]
