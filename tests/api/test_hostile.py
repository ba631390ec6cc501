"""Hostile input is refused or not found; it breaks nothing and is not run."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from urllib.parse import quote

import orjson
import pytest
from starlette.testclient import TestClient

from kernelindex.api.routes import ENDPOINTS
from tests.api.factories import BASE

HOSTILE = {
    "nul": "a\0b",
    "bidi": "\u202egnp.exe\u2066",
    "sql": "x' OR '1'='1'; DROP TABLE runs; --",
    "like": "%_%",
    "markup": "<script>alert(1)</script>",
    "huge": "a" * 900,
    "hex": "f" * 900,
    "unicode": "Ж日本🙂" * 20,
    "surrogate": "%ED%A0%80",
    "control": "\x1b[31m\rSet-Cookie: a=b",
    "glob": "../../etc/passwd",
    "percent": "%",
    "colon": "sha256:",
    "dash": "-",
    "format": "{0.__class__}",
    "number": "99999999999999999999",
    "negative": "-1",
    "digits": "٣٤",
}
TEXTS = [pytest.param(value, id=name) for name, value in HOSTILE.items()]
IN_VALUES = ("nul", "bidi", "sql", "like", "markup", "huge", "surrogate", "control", "negative")
FILTERED = [one for one in ENDPOINTS if one.method == "GET" and one.parameters]


def forged(filters: dict[str, object], after: list[object]) -> str:
    """A cursor of these filters with values that we never wrote."""
    text = orjson.dumps(filters, option=orjson.OPT_SORT_KEYS)
    data = orjson.dumps([hashlib.sha256(text).hexdigest()[:16], *after])
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def check(answer: object) -> int:
    status: int = answer.status_code  # type: ignore[attr-defined]
    body: bytes = answer.content  # type: ignore[attr-defined]
    assert status < 500, body
    json.loads(body)
    return status


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_name_in_a_path(client: TestClient, text: str) -> None:
    for endpoint in ENDPOINTS:
        if endpoint.inside:
            path = endpoint.path.format(**{name: quote(text, safe="") for name in endpoint.inside})
            assert check(client.request(endpoint.method, BASE + path)) in {404, 405, 414}


@pytest.mark.parametrize("name", IN_VALUES)
def test_a_hostile_value_of_a_parameter(client: TestClient, name: str) -> None:
    text = HOSTILE[name]
    for endpoint in FILTERED:
        path = endpoint.path.format(ident="01a0202b", version="v1alpha1", kind="BenchmarkRun")
        needed = {one.name: one.example for one in endpoint.parameters if one.required}
        for one in endpoint.parameters:
            given = {**needed, one.name: [text, text] if one.many else text}
            check(client.get(BASE + path, params=given))


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_question(client: TestClient, text: str) -> None:
    ask = f"{BASE}/resolve/kernel"
    for document in (
        {"operation": text},
        {"operation": "moe-mlp", "axes": {text: 1}},
        {"operation": "moe-mlp", "dtypes": [text]},
        {"operation": "moe-mlp", "hardware": text},
        {"operation": "moe-mlp", "source": text, "framework": text},
        {"operation": "moe-mlp", "policy": {"licenses": [text]}},
        {text: text},
    ):
        check(client.post(ask, json=document))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"moe"',
        b"{",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\x00}\x00",
        b'{"operation": "a\\u0000b"}',
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"operation": "moe-mlp", "axes": {"tokens": 1' + b"0" * 5_000 + b"}}",
        b'{"operation": "moe-mlp", "axes": {"tokens": 1.5}}',
        b'{"operation": "moe-mlp", "axes": {"tokens": true}}',
        b'{"operation": "moe-mlp", "axes": [["tokens", 1]]}',
        b'{"operation": {"$ne": null}}',
    ],
    ids=range(15),
)
def test_a_hostile_body(client: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    for path in ("/resolve/kernel", "/resolve/kernel/batch"):
        answer = client.post(BASE + path, content=body, headers=headers)
        assert check(answer) in {400, 413, 422}
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_that_lies_about_its_length_is_bounded(client: TestClient) -> None:
    def parts() -> object:
        for _ in range(100):
            yield b" " * 10_000

    headers = {"Content-Type": "application/json"}
    answer = client.post(f"{BASE}/resolve/kernel", content=parts(), headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("path", "filters"),
    [
        ("/runs", {"list": "runs"}),
        ("/records", {"list": "records"}),
        ("/operations", {"list": "operations", "family": None}),
        ("/projects", {"list": "projects"}),
        ("/implementations", {"list": "implementations", "operation": None, "project": None}),
    ],
)
@pytest.mark.parametrize(
    "after",
    [
        [],
        [1],
        ["a"],
        [None, None],
        [{}, []],
        ["a", "b", "c", "d"],
        [1e308, "x"],
        ["\0"],
        ["\0", "x"],
        ["", "", 2**63],
    ],
)
def test_a_forged_cursor(
    client: TestClient, path: str, filters: dict[str, object], after: list[object]
) -> None:
    params = {"cursor": forged(filters, after)}
    assert check(client.get(BASE + path, params=params)) in {200, 400}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "BREW"])
def test_a_method_that_is_not_taken(client: TestClient, method: str) -> None:
    answer = client.request(method, f"{BASE}/runs/01a0202b")
    assert (answer.status_code, answer.json()["code"]) == (405, "route.method")


def test_a_compressed_body_is_refused_by_name(client: TestClient) -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    body = gzip.compress(b'{"operation": "moe-mlp"}')
    answer = client.post(f"{BASE}/resolve/kernel", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "request.media_type")
    assert answer.json()["detail"] == "The body is encoded as gzip; wanted JSON as it is, in UTF-8"
