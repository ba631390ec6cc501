"""Redirects stay on the host that was asked, whatever the client calls it."""

from __future__ import annotations

import pytest

from tests.support.site import client

EVIL = {"host": "evil.example"}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/runs/", "/runs"),
        ("/runs//", "/runs"),
        ("/runs/?gpu=H100&x=%2F", "/runs?gpu=H100&x=%2F"),
        ("/operations/moe-mlp/", "/operations/moe-mlp"),
        ("/operations/a%25%3Fb%0Ac/", "/operations/a%25%3Fb%0Ac"),
        ("/api/", "/api"),
    ],
)
def test_a_slash_at_the_end_leads_to_the_address_without(path: str, target: str) -> None:
    answer = client().get(path, headers=EVIL)
    assert (answer.status_code, answer.headers["location"]) == (307, target)


@pytest.mark.parametrize("path", ["//", "//evil.example/", "/nothing/", "//evil.example/runs/"])
def test_an_address_that_is_nowhere_leads_nowhere(path: str) -> None:
    answer = client().get(f"http://testserver{path}")
    assert answer.status_code == 404
    assert "location" not in answer.headers
