"""A GPU: peaks with where they are from, and what was measured on it."""

from __future__ import annotations

import re
from html import unescape

from starlette.testclient import TestClient

from kernelindex.registry.hardware import load_products
from kernelindex.web.pages.hardware import _APART
from tests.web.pages.reading import links_of, read_rows, row_of


def test_nominal_peaks_have_their_source(site: TestClient) -> None:
    page = site.get("/hardware/h100-sxm5-80gb").text
    assert row_of(page, "bf16")[1:] == ["989.4", "not measured", "TFLOP/s"]
    assert row_of(page, "memory copy")[1] == "3.35"
    assert "resources.nvidia.com/en-us-gpu-resources/h100-datasheet-24306" in links_of(page)


def test_attainable_peaks_have_theirs(site: TestClient) -> None:
    page = site.get("/hardware/h200-sxm-141gb").text
    assert row_of(page, "bf16")[1:] == ["989.4", "790.0", "TFLOP/s"]
    assert "Attainable bf16" in page


def test_what_was_measured_on_it(site: TestClient) -> None:
    rows = read_rows(site.get("/hardware/h100-sxm5-80gb").text)
    assert ["Fused MoE expert MLP", "backward 26, forward 26, full 26", "78", "78", "168"] in rows


def test_a_known_gpu_without_runs_says_so(site: TestClient) -> None:
    answer = site.get("/hardware/mi300x")
    assert answer.status_code == 200
    assert "Nothing yet." in answer.text


def test_a_family_is_no_gpu_but_names_its_products(site: TestClient) -> None:
    answer = site.get("/hardware/H100")
    assert answer.status_code == 404
    assert "h100-sxm5-80gb" in answer.text
    assert "h100-pcie-80gb" in answer.text


def test_what_is_said_of_a_place_in_brackets_is_no_place_of_its_own(site: TestClient) -> None:
    """One of the places was "transcribed …; the address itself was not opened"."""
    for product in list(load_products().values())[:12]:
        places = _APART.split(product.checked)
        assert all(one.count("(") == one.count(")") for one in places)
        page = unescape(re.sub(r"<[^>]+>", "", site.get(f"/hardware/{product.id}").text))
        for one in filter(None, places):
            assert one.partition(" ")[2] in page
    first, second, unread = _APART.split(load_products()["h200-sxm-141gb"].checked)
    assert first.endswith("the address itself was not opened)")
    assert (second[:8], unread[:9]) == ("https://", "confirmed")
