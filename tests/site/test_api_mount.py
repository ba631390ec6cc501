"""Whatever is below ``/api/`` is answered by the API, and counted by one limiter or the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.api import Rates
from kernelindex.site import create_app
from tests.support.site import client, starter


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/v1/runs/%0Ax", "run.not_found"),
        ("/api/v1/%0Aruns", "route.not_found"),
        ("/api/v1/x%0D%0A%E2%80%A8y", "route.not_found"),
        ("/api/x", "route.not_found"),
        ("/api/%0A", "route.not_found"),
        ("/api/runs", "route.not_found"),
        ("/api/v2/runs", "route.not_found"),
        ("/api/v1runs", "route.not_found"),
        ("/api/addresses", "route.not_found"),
    ],
)
def test_an_address_below_the_api_is_the_apis(path: str, code: str) -> None:
    answer = client().get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["ratelimit-policy"].startswith('"reads"')


def test_its_root_is_its_description_with_and_without_a_slash() -> None:
    with_slash, without = client().get("/api/v1/"), client().get("/api/v1")
    assert with_slash.json() == without.json()
    assert with_slash.json()["openapi"].startswith("3.1")


@pytest.mark.parametrize("path", ["/api", "/api/addresses/list_runs", "/api/addresses/%0A"])
def test_the_pages_that_describe_it_are_pages(path: str) -> None:
    assert client().get(path).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/x",
        "/api/addresses/x",
        "/api/v1",
        "/api/v1/x",
        "/api/v1/%0A",
        "/healthy",
        "/static/nope",
    ],
)
@pytest.mark.slow
def test_every_address_is_counted_by_one_limiter(path: str, tmp_path: Path) -> None:
    app = create_app(catalog=starter(), cache=tmp_path, rates=Rates(reads="1/minute"))
    site = TestClient(app, follow_redirects=False)
    answers = [site.get(path) for _ in range(2)]
    assert answers[0].status_code != 429
    assert answers[1].status_code == 429
    assert [len(one.headers.get_list("ratelimit")) for one in answers] == [1, 1]
