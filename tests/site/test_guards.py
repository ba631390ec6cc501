"""What every answer carries, and what is refused before it is read."""

from __future__ import annotations

import gzip

import pytest

from kernelindex.site.guards import MOST_BODY, MOST_PATH, MOST_QUERY
from kernelindex.web.assets import asset_path
from tests.support.html import Document
from tests.support.site import client, record_runs


def run_path() -> str:
    return f"/runs/{record_runs()[1][7:19]}"


@pytest.mark.parametrize("path", ["/", "/nope", "/health", "/static/nope", "/api/v1/nope"])
def test_every_answer_forbids_script_and_framing(path: str) -> None:
    headers = client().get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == "'self'"
    assert "script-src" not in policy
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "strict-origin-when-cross-origin"


def test_an_unchanged_page_is_not_sent_again() -> None:
    first = client().get(run_path())
    again = client().get(run_path(), headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "no-cache"


def test_the_sheet_is_kept_for_ever_under_the_name_of_its_content() -> None:
    answer = client().get(asset_path("site.css"))
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert len(answer.content) < 20_000
    assert asset_path("site.css") in client().get("/").text


def test_a_page_is_compressed_for_those_who_take_it() -> None:
    with client().stream("GET", run_path(), headers={"accept-encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) == len(raw)
    assert gzip.decompress(raw).startswith(b"<!doctype html>")
    plain = client().get(run_path(), headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert len(raw) < len(plain.content) / 2


def test_a_strong_etag_is_weak_on_compressed_bytes_and_still_known() -> None:
    path = f"/api/v1{run_path()}"
    plain = client().get(path, headers={"accept-encoding": "identity"})
    packed = client().get(path, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["etag"].startswith('"sha256:')
    assert packed.headers["etag"] == f"W/{plain.headers['etag']}"
    again = {"accept-encoding": "gzip", "if-none-match": packed.headers["etag"]}
    assert client().get(path, headers=again).status_code == 304


@pytest.mark.parametrize(
    "path",
    ["/feeds/records.atom", "/api/v1/schemas/v1alpha1/BenchmarkRun"],
)
def test_every_kind_of_text_is_compressed(path: str) -> None:
    answer = client().get(path, headers={"accept-encoding": "gzip"})
    assert (answer.status_code, answer.headers["content-encoding"]) == (200, "gzip")


@pytest.mark.parametrize(
    ("asked", "packed"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("br, gzip;q=0.5", True),
        ("*", True),
        ("br;q=1.0, *;q=0.1", True),
        ("identity;q=0.5, gzip;q=1.0", True),
        ("identity, gzip", True),
        ("gzip;q=0", False),
        ("gzip ; q=0.000", False),
        ("*;q=0", False),
        ("*, gzip;q=0", False),
        ("gzip;q=0.5, identity", False),
        ("gzip;q=many", False),
        ("gzipped", False),
        ("br", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("path", ["/methodology", "/api/v1/schemas", asset_path("site.css")])
def test_a_body_is_compressed_only_for_those_who_take_it(
    path: str, asked: str, packed: bool
) -> None:
    answer = client().get(path, headers={"accept-encoding": asked})
    assert answer.headers.get("content-encoding") == ("gzip" if packed else None)
    assert answer.headers["vary"] == "Accept-Encoding"


def test_codings_may_be_stated_in_several_headers() -> None:
    headers = [("accept-encoding", "br"), ("accept-encoding", "gzip")]
    assert client().get("/methodology", headers=headers).headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("coding", ["gzip", "identity"])
@pytest.mark.parametrize("path", ["/methodology", "/api/v1/openapi.json", "/api/v1/runs/nothing"])
def test_head_has_the_headers_of_get(path: str, coding: str) -> None:
    asked = {"accept-encoding": coding}
    head, get = (client().request(one, path, headers=asked) for one in ("HEAD", "GET"))
    assert head.content == b""
    assert head.status_code == get.status_code
    changing = {"ratelimit"}
    assert {**head.headers, **dict.fromkeys(changing)} == {**get.headers, **dict.fromkeys(changing)}


def test_an_address_that_is_too_long_is_refused() -> None:
    assert client().get("/runs/" + "a" * MOST_PATH).status_code == 414
    assert client().get("/answer?q=" + "a" * MOST_QUERY).status_code == 414


@pytest.mark.parametrize("path", [f"/api/v1/{'a' * MOST_PATH}", f"/api/x?x={'a' * MOST_QUERY}"])
def test_programs_are_refused_by_the_api_itself(path: str) -> None:
    answer = client().get(path)
    assert answer.status_code == 414
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json()["type"] == "/api#request.query_too_long"


def test_a_body_that_is_too_large_for_the_api_is_refused_by_it() -> None:
    headers = {"content-length": str(MOST_BODY + 1), "content-type": "application/json"}
    answer = client().post("/api/v1/resolve/kernel", content=b"x", headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (413, "/api#request.body_too_large")


def test_a_body_that_is_too_large_is_refused() -> None:
    headers = {"content-length": str(MOST_BODY + 1)}
    assert client().post("/contribute", content=b"x", headers=headers).status_code == 413


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_page_takes_no_other_method(method: str) -> None:
    answer = client().request(method, run_path())
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


def test_an_unknown_address_is_a_page_that_helps() -> None:
    answer = client().get("/operation/rms-norm")
    page = Document(answer.text)
    assert answer.status_code == 404
    assert "/answer?q=rms+norm" in page.links()


def test_health_says_how_much_there_is() -> None:
    answer = client().get("/health")
    assert answer.json()["status"] == "ok"
    assert answer.json()["runs"] > 1
    assert answer.headers["cache-control"] == "no-store"
