"""Pages of the API are its own description: every address, nothing else."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.web.pages.reading import links_of, read_rows


def test_every_address_of_the_document_is_listed(hostile: TestClient) -> None:
    document = hostile.get("/api/v1/openapi.json").json()
    page = hostile.get("/api").text
    listed = {(row[0], row[1]) for row in read_rows(page) if row[0] in ("GET", "POST")}
    wanted = {
        (method.upper(), f"/api/v1{path}")
        for path, item in document["paths"].items()
        for method in item
        if method in ("get", "post")
    }
    assert listed == wanted


def test_an_address_has_its_parameters_and_problem_codes(hostile: TestClient) -> None:
    page = hostile.get("/api/addresses/list_runs").text
    assert [row[:2] for row in read_rows(page) if row[0] == "limit"] == [["limit", "integer"]]
    assert "<code>request.cursor</code>" in page
    assert "curl -G &#39;http://testserver/api/v1/runs&#39;" in page or (
        "curl -G 'http://testserver/api/v1/runs'" in page
    )


def test_every_address_has_a_page(hostile: TestClient) -> None:
    targets = links_of(hostile.get("/api").text).values()
    pages = [href for href in targets if href.startswith("/api/addresses/")]
    assert len(pages) > 15
    for href in pages:
        assert hostile.get(href).status_code == 200


def test_an_unknown_address_is_missing_with_a_hint(hostile: TestClient) -> None:
    answer = hostile.get("/api/addresses/list_run")
    assert answer.status_code == 404
    assert "perhaps list_runs" in answer.text


def test_the_type_of_a_problem_leads_to_its_line(hostile: TestClient) -> None:
    page = hostile.get("/api").text
    problem = hostile.get("/api/v1/runs/00000000").json()
    path, _, anchor = problem["type"].partition("#")
    assert (path, anchor) == ("/api", "run.not_found")
    for code in hostile.get("/api/v1/openapi.json").json()["x-problem-codes"]:
        assert page.count(f'id="{code["code"]}"') == 1
