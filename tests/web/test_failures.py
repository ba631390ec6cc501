"""What a page that is not there offers instead leads somewhere."""

from __future__ import annotations

import re
from html import unescape

import pytest

from kernelindex.errors import CatalogError
from kernelindex.web.failures import status_of
from tests.support.site import client

ASKED = re.compile(r'<a href="([^"]+)">Ask about')


@pytest.mark.parametrize(
    "path",
    [
        "/runs/runs",
        "/runs/0123456789ab",
        "/cohorts/zz",
        "/nothing/here",
        "/operations/fused-moes",
        "/operations/rms_norms",
        "/hardware/H100",
        "/hardware/tpu",
        "/implementations/sonicmoe-of-nobody",
        "/records/records",
    ],
)
def test_what_can_be_asked_about_instead_is_answered(path: str) -> None:
    page = client().get(path)
    assert page.status_code == 404
    for href in ASKED.findall(page.text):
        assert client().get(unescape(href)).status_code == 200


@pytest.mark.parametrize(
    "path", ["/runs?cursor=abc", "/operations?famly=moe", "/records?gpu=H1O0", "/compare?run=%00"]
)
def test_a_refused_parameter_leaves_a_way_to_the_page(path: str) -> None:
    page = client().get(path)
    assert page.status_code == 400
    bare = re.search(r'<a href="([^"]+)">The same page without', page.text)
    assert bare is not None
    assert bare[1] == path.partition("?")[0]
    assert client().get(bare[1]).status_code == 200


def test_what_nearly_names_something_is_asked_about() -> None:
    assert ASKED.search(client().get("/operations/fused-moes").text)
    assert ASKED.search(client().get("/hardware/H100").text)
    assert not ASKED.search(client().get("/runs/runs").text)


@pytest.mark.parametrize(
    ("code", "status"),
    [("catalog.read_only", 503), ("catalog.stale", 503), ("catalog.missing", 500)],
)
def test_what_an_operator_can_mend_is_no_failure_of_the_code(code: str, status: int) -> None:
    assert status_of(CatalogError("cannot be done now", code=code)) == status
