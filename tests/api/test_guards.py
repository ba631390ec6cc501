"""CORS for reads, and addresses that are too long."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.api.factories import BASE

ORIGIN = {"Origin": "https://example.org"}


def preflight(client: TestClient, path: str, method: str) -> dict[str, str]:
    headers = {**ORIGIN, "Access-Control-Request-Method": method}
    return dict(client.options(BASE + path, headers=headers).headers)


@pytest.mark.parametrize("path", ["/runs/01a0202b", "/runs/nothing"])
def test_any_origin_may_read(client: TestClient, path: str) -> None:
    answer = client.get(BASE + path, headers=ORIGIN)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "ETag" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/runs", "GET", True),
        ("/resolve/kernel", "POST", True),
        ("/resolve/kernel/batch", "POST", True),
        ("/runs", "POST", False),
        ("/attestations", "POST", False),
        ("/resolve/kernel", "DELETE", False),
    ],
)
def test_leave_is_given_to_reads_only(
    client: TestClient, path: str, method: str, allowed: bool
) -> None:
    headers = preflight(client, path, method)
    assert ("access-control-allow-origin" in headers) is allowed
    assert "access-control-allow-credentials" not in headers


def test_a_post_that_may_write_is_not_open_to_other_origins(client: TestClient) -> None:
    answer = client.post(f"{BASE}/attestations", json={}, headers=ORIGIN)
    assert "access-control-allow-origin" not in answer.headers


def test_the_limits_of_an_address(client: TestClient) -> None:
    good = client.get(f"{BASE}/resolve/kernel", params={"q": "x" * 900})
    assert good.json()["code"] == "request.field_invalid"
    assert client.get(f"{BASE}/runs?x={'y' * 4095}").status_code == 414
    assert client.get(f"{BASE}/runs/{'y' * 1025}").status_code == 414
