"""Pages have a rate for each address, said in words; style sheets and health have none."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from kernelindex.api import Rates
from kernelindex.site import create_app
from tests.support.site import starter


def make_client(cache: Path, rates: Rates | None) -> TestClient:
    return TestClient(create_app(catalog=starter(), cache=cache, rates=rates))


def test_the_third_page_of_two_is_refused_in_words(tmp_path: Path) -> None:
    client = make_client(tmp_path, Rates(reads="2/minute"))
    answers = [client.get("/methodology") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert "More than 2 per 1 minute" in answers[2].text
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60
    assert client.get("/health").status_code == 200
    assert client.get("/api/v1/schemas").status_code == 200  # counts for itself


def test_what_is_too_large_is_counted_too(tmp_path: Path) -> None:
    client = make_client(tmp_path, Rates(reads="2/minute"))
    long = f"/methodology?q={'a' * 9_000}"
    assert [client.get(long).status_code for _ in range(3)] == [414, 414, 429]


def test_no_rate_is_set_where_none_is_wanted(tmp_path: Path) -> None:
    client = make_client(tmp_path, None)
    assert "ratelimit" not in client.get("/methodology").headers
    assert "ratelimit" not in client.get("/api/v1/schemas").headers
