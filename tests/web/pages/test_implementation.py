"""An implementation: what it lacks to be used, and how its runs rank."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from tests.support import shipped
from tests.web.pages.reading import links_of, read_rows

LOOP = "/implementations/liger-benchmark-moe-expert-loop-moe-mlp"


def test_the_loop_says_that_it_is_a_copy_and_what_it_lacks(site: TestClient) -> None:
    page = site.get(LOOP).text
    assert "This is a copy of" in page
    assert "not as it is, 3 of 5 items are missing" in page
    assert "exists only as a copy inside a benchmark script" in page
    assert "import _huggingface_moe_forward" not in page


def test_the_loop_written_anew_is_installed_and_says_so_once() -> None:
    found = shipped.shipped().implementation_page({"line": "liger-benchmark/moe-expert-loop"})
    pages = [shipped.client().get(f"/implementations/{row.slug}").text for row in found.rows]
    anew = [page for page in pages if "installs by git" in page]
    assert len(anew) == 2
    for page in anew:
        assert "install recipe: installs by git" in page
        assert "pip install 'kernelindex[gpu] @ git+" in page
        assert "not as it is" not in page
        assert "benchmark script" not in page
        assert "Not installable" not in page


def test_every_page_installs_what_its_checklist_says_is_installed() -> None:
    rows = shipped.shipped().implementation_page({}, limit=100).rows
    seen = set()
    for row in rows:
        page = shipped.client().get(f"/implementations/{row.slug}").text
        listed = re.search(r"<span>(met|missing)</span> install recipe: ([^<]*)", page)
        assert listed is not None, row.slug
        section = page.partition('id="install"')[2].partition("</section>")[0]
        if listed[1] == "met":
            assert "pip install" in section, row.slug
        else:
            assert f"Not installable: {listed[2]}." in section, row.slug
        assert ("pip install" in section) != ("Not installable" in section), row.slug
        seen.add(listed[1])
    assert seen == {"met", "missing"}


def test_an_empty_list_is_not_told_as_support_of_nothing(site: TestClient) -> None:
    page = site.get(LOOP).text
    support = page.split("Says it supports", 1)[1].split("</section>", 1)[0]
    assert "Nothing is stated." in support
    assert "none" not in support


def test_its_runs_have_ranks_and_ratios(site: TestClient) -> None:
    rows = read_rows(site.get(f"{LOOP}?pass=backward&metric=latency").text)
    record = next(row for row in rows if row[0].startswith("experts=64"))
    assert record[2:5] == ["63.96 ms", "11.12x", "2 of 2"]


def test_a_released_package_has_its_install_line(site: TestClient) -> None:
    page = site.get("/implementations/sonic-moe-functional").text
    assert "pip install sonic-moe==0.1.2.post1" in page
    assert "from sonicmoe.functional import _UpProjection, _DownProjection" in page
    assert "1 of 5 items is missing" in page


def test_a_digest_prefix_leads_to_the_slug(site: TestClient) -> None:
    answer = site.get("/implementations/25dc698c59d2")
    assert (answer.status_code, answer.headers["location"]) == (302, LOOP)


def test_an_unknown_one_is_missing_and_suggests(site: TestClient) -> None:
    answer = site.get("/implementations/sonicmoe")
    assert answer.status_code == 404
    assert "/implementations/sonic-moe-functional" in links_of(answer.text).values()


def test_a_project_lists_what_is_its(site: TestClient) -> None:
    page = site.get("/projects/liger-kernel").text
    assert links_of(page)["Liger fused MoE"].startswith("/implementations/liger-kernel-")
    assert links_of(page)["github.com/linkedin/Liger-Kernel"].startswith("https://github.com/")
    missing = site.get("/projects/liger")
    assert missing.status_code == 404
    assert links_of(missing.text)["Liger-Kernel"] == "/projects/liger-kernel"


def test_hostile_titles_are_harmless_and_visible(hostile: TestClient) -> None:
    page = hostile.get("/implementations").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "safe\\u202egnp.exe\\u2066" in page
    assert "名前 Ünïcode" in page
    for slug in ("markup", "formula", "bidi", "long", "script"):
        one = hostile.get(f"/implementations/{slug}")
        assert one.status_code == 200
        assert "\u202e" not in one.text
        assert "<script" not in one.text
