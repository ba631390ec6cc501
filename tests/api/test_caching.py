"""ETags, conditional requests and HEAD."""

from __future__ import annotations

import hashlib

import pytest
from starlette.testclient import TestClient

from kernelindex.api import examples
from tests.api.factories import BASE

RUN = f"{BASE}/runs/01a0202b"
MANIFEST = f"{BASE}/manifests/{examples.RUN_DIGEST}"


def test_the_tag_is_the_digest_of_the_body(client: TestClient) -> None:
    answer = client.get(RUN)
    assert answer.headers["etag"] == f'"sha256:{hashlib.sha256(answer.content).hexdigest()}"'


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
@pytest.mark.parametrize("path", [RUN, MANIFEST, f"{BASE}/openapi.json"])
def test_known_bytes_are_not_sent_again(client: TestClient, path: str, form: str) -> None:
    tag = client.get(path).headers["etag"]
    answer = client.get(path, headers={"If-None-Match": form.format(tag)})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == tag


def test_other_bytes_are_sent(client: TestClient) -> None:
    assert client.get(RUN, headers={"If-None-Match": '"sha256:0"'}).status_code == 200


def test_an_unknown_manifest_is_not_said_to_be_known(client: TestClient) -> None:
    path = f"{BASE}/manifests/sha256:{'0' * 64}"
    assert client.get(path, headers={"If-None-Match": "*"}).status_code == 404


@pytest.mark.parametrize("path", [RUN, f"{BASE}/runs", f"{BASE}/openapi.json", f"{BASE}/nothing"])
def test_head_is_get_without_its_body(client: TestClient, path: str) -> None:
    get, head = client.get(path), client.head(path)
    assert head.content == b""
    assert head.status_code == get.status_code
    assert head.headers["content-length"] == str(len(get.content))
    assert head.headers.get("etag") == get.headers.get("etag")


def test_problems_are_not_kept(client: TestClient) -> None:
    assert client.get(f"{BASE}/runs/nothing").headers["cache-control"] == "no-store"
