"""Lists: filters, orders and places stand in the address; what is unknown is refused."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from tests.support import shipped
from tests.web.pages.reading import links_of, read_rows

LISTS = (
    "/operations",
    "/implementations",
    "/projects",
    "/hardware",
    "/runs",
    "/records",
    "/sources",
)


@pytest.mark.parametrize("path", LISTS)
def test_a_list_answers_and_is_light(site: TestClient, path: str) -> None:
    answer = site.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < 25_000
    assert "<script" not in answer.text
    assert " style=" not in answer.text
    assert answer.headers["etag"].startswith('W/"')


@pytest.mark.parametrize("path", LISTS)
def test_an_unknown_filter_is_refused_with_the_known_ones(site: TestClient, path: str) -> None:
    answer = site.get(f"{path}?colour=red")
    assert answer.status_code == 400
    assert "request.filter" in answer.text
    assert "wanted one of" in answer.text


def test_a_misspelt_filter_gets_a_correction(site: TestClient) -> None:
    assert "Did you mean family?" in site.get("/operations?famly=moe").text


def test_a_filter_twice_is_refused(site: TestClient) -> None:
    answer = site.get("/operations?family=moe&family=gemm")
    assert answer.status_code == 400
    assert "several values at family; wanted one" in answer.text


def test_an_unknown_value_is_refused_with_those_there_are(site: TestClient) -> None:
    answer = site.get("/runs?status=passd")
    assert answer.status_code == 400
    assert "Did you mean passed?" in answer.text


def test_an_unknown_order_is_refused(site: TestClient) -> None:
    assert "request.sort" in site.get("/projects?sort=colour").text


def runs_on(site: TestClient, path: str) -> list[str]:
    """Every run of a list in order, all its pages."""
    found: list[str] = []
    while path:
        page = site.get(path).text
        found += _run_links(page)
        path = links_of(page).get("Next page", "")
    return found


def _run_links(page: str) -> list[str]:
    marked = page.split('<td class="n v"><a href="')[1:]
    return [part.partition('"')[0] for part in marked]


def test_pages_of_runs_hold_each_run_once(site: TestClient) -> None:
    found = runs_on(site, "/runs?pass=backward&gpu=h100-sxm5-80gb")
    assert len(found) == len(set(found)) == 56


def test_oldest_first_is_newest_first_reversed(site: TestClient) -> None:
    newest = runs_on(site, "/runs?pass=full")
    oldest = runs_on(site, "/runs?pass=full&sort=oldest")
    assert oldest == newest[::-1]


def test_a_cursor_serves_its_own_filters_only(site: TestClient) -> None:
    after = links_of(site.get("/runs?pass=full").text)["Next page"]
    assert site.get(after).status_code == 200
    other = site.get(after.replace("pass=full", "pass=forward"))
    assert other.status_code == 400
    assert "request.cursor" in other.text


def test_operation_of_runs_may_be_an_alias(site: TestClient) -> None:
    assert runs_on(site, "/runs?operation=fused-moe&pass=forward") == runs_on(
        site, "/runs?operation=moe-mlp&pass=forward"
    )
    answer = site.get("/runs?operation=fusd-moe")
    assert answer.status_code == 400
    assert "request.operation_unknown" in answer.text


def test_words_narrow_projects_and_say_how_to_clear(site: TestClient) -> None:
    page = site.get("/projects?q=liger+benchmark").text
    assert "liger-benchmark" in page
    assert "sonic" not in page
    empty = site.get("/projects?q=nothing+like+it").text
    assert links_of(empty)["Clear the filters"] == "/projects"


def test_order_of_implementations_by_name(site: TestClient) -> None:
    rows = read_rows(site.get("/implementations?sort=name").text)[1:]
    starts = [row[0][:6].casefold() for row in rows]
    assert len(starts) == 9
    assert starts == sorted(starts)


def test_hardware_is_narrowed_by_what_was_measured(site: TestClient) -> None:
    rows = read_rows(site.get("/hardware?measured=yes").text)[1:]
    assert [row[0] for row in rows] == [
        "H100 SXM5 80GBh100-sxm5-80gb",
        "H200 SXM 141GBh200-sxm-141gb",
    ]
    assert rows[0][2:5] == ["989", "3.35", "80.0 GiB"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/operations?q=%00", 400),
        ("/runs?project=%00", 400),
        ("/compare?run=%00&run=a", 400),
        ("/projects/%00", 404),
        ("/hardware/%00", 404),
        (f"/projects?q={'x' * 301}", 400),
        ("/implementations/" + "x" * 1500, 404),
    ],
)
def test_what_no_database_holds_is_refused(site: TestClient, path: str, status: int) -> None:
    assert site.get(path).status_code == status


NAMES = ("H200", "h200", "h200-sxm-141gb", "H200 SXM", "MI300X", "NVIDIA H100 PCIe")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("listed", ["runs", "records"])
def test_a_gpu_is_called_the_same_on_pages_and_in_the_api(listed: str, name: str) -> None:
    site = shipped.client()
    page = site.get(f"/{listed}", params={"gpu": name})
    data = site.get(f"/api/v1/{listed}", params={"gpu": name, "limit": 500})
    assert (page.status_code, data.status_code) == (200, 200)
    digests = {one.get("digest") or one["run"] for one in data.json()[listed]}
    shown = set(re.findall(r'href="/runs/([0-9a-f]{12})"', page.text.split("<main", 1)[1]))
    assert shown <= {digest[7:19] for digest in digests} or listed == "records"
    assert bool(shown) == bool(digests)


def test_what_names_no_gpu_is_refused_with_one_that_does() -> None:
    for listed in ("/runs", "/records"):
        answer = shipped.client().get(listed, params={"gpu": "H20O"})
        assert answer.status_code == 400
        assert "wanted a GPU such as H100" in answer.text


def test_an_id_that_a_page_offers_is_taken_by_the_api() -> None:
    for row in shipped.shipped().hardware():
        answer = shipped.client().get(
            "/api/v1/runs", params={"gpu": row.id, "limit": 500, "status": "any"}
        )
        assert len(answer.json()["runs"]) == min(row.run_count, 500)


def test_a_name_of_one_gpu_narrows_an_operation() -> None:
    site = shipped.client()
    by_name = site.get("/operations/moe-mlp", params={"gpu": "H200"}).text
    by_id = site.get("/operations/moe-mlp", params={"gpu": "h200-sxm-141gb"}).text
    rows = re.compile(r'href="(/cohorts/[0-9a-f]+)"')
    assert rows.findall(by_name) == rows.findall(by_id) != []


def test_a_status_that_no_run_has_is_no_mistake() -> None:
    assert shipped.client().get("/runs?status=timeout").status_code == 200
    assert shipped.client().get("/runs?status=gone").status_code == 400
