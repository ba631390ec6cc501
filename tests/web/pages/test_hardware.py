"""A GPU: peaks with where they are from, and what was measured on it."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.web.pages.reading import links_of, read_rows, row_of


def test_nominal_peaks_have_their_source(site: TestClient) -> None:
    page = site.get("/hardware/h100-sxm5-80gb").text
    assert row_of(page, "bf16")[1:] == ["989", "not measured", "TFLOP/s"]
    assert row_of(page, "memory copy")[1] == "3.35"
    assert "resources.nvidia.com/en-us-gpu-resources/h100-datasheet-24306" in links_of(page)


def test_attainable_peaks_have_theirs(site: TestClient) -> None:
    page = site.get("/hardware/h200-sxm-141gb").text
    assert row_of(page, "bf16")[1:] == ["989", "790", "TFLOP/s"]
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
