"""An operation: the record's sweep, its costs, its results by GPU and pass."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from tests.web.pages.reading import LOOP, links_of, read_rows, row_of

BACKWARD = "/operations/moe-mlp?pass=backward&axis=experts"


def test_sweep_over_experts_has_the_gap_at_every_size(site: TestClient) -> None:
    page = site.get(BACKWARD).text
    assert ["experts", "8", "16", "32", "64", "128"] in read_rows(page)
    assert row_of(page, "Loop over experts")[1:] == ["1.42x", "2.31x", "4.50x", "11.1x", "30.2x"]
    assert row_of(page, "Liger fused MoE")[1:] == ["1.00x", "1.00x", "1.00x", "1.0x", "1.0x"]
    assert "Liger fused MoE is ahead throughout." in page
    assert links_of(page)["11.1x"] == f"/runs/{LOOP}"


def test_sweep_has_a_chart_with_words(site: TestClient) -> None:
    page = site.get(BACKWARD).text
    assert 'alt="Over experts from 8 to 128 (5 sizes measured)' in page
    assert "30.2x the best at 128" in page


def test_costs_are_expressions_and_numbers_at_an_example_shape(site: TestClient) -> None:
    page = site.get("/operations/moe-mlp").text
    forward = row_of(page, "forward")
    assert forward[1] == "618.5 GFLOP6 × tokens × k × hidden × intermediate"
    assert forward[2].startswith("671 MB2 × tokens × hidden × size of x")
    assert row_of(page, "backward")[1].startswith("1.237 TFLOP")


def test_results_are_counted_by_gpu_and_pass(site: TestClient) -> None:
    rows = read_rows(site.get("/operations/moe-mlp").text)
    assert ["H100 SXM5 80GB", "backward", "13", "13", "28"] in rows
    assert ["H200 SXM 141GB", "full", "2", "2", "7"] in rows


def test_groups_are_narrowed_and_paged_by_address(site: TestClient) -> None:
    narrowed = "/operations/moe-mlp?gpu=h100-sxm5-80gb&pass=backward"
    rows = [row for row in read_rows(site.get(narrowed).text) if row[0].startswith("experts=")]
    assert len(rows) == 13
    assert {row[1] for row in rows} == {"H100 SXM5 80GB backward, Liger-Kernel benchmark scripts"}
    record = next(row for row in rows if row[0].startswith("experts=64"))
    assert record[2:] == ["Liger fused MoE leads (only 2 measured), 5.75 ms", "11.12x", "2"]


def test_memory_is_beside_and_not_mixed_in(site: TestClient) -> None:
    plain = read_rows(site.get("/operations/moe-mlp").text)
    assert not [row for row in plain if "GiB" in "".join(row) and row[0].startswith("experts=")]
    memory = read_rows(site.get("/operations/moe-mlp?metric=peak_memory").text)
    shown = [row for row in memory if row[0].startswith("experts=")]
    assert len(shown) == 15
    assert all("peak memory" in row[1] for row in shown)


def test_an_alias_leads_to_the_operation(site: TestClient) -> None:
    answer = site.get("/operations/fused-moe")
    assert (answer.status_code, answer.headers["location"]) == (302, "/operations/moe-mlp")


def test_an_unknown_operation_is_missing_and_suggests(site: TestClient) -> None:
    answer = site.get("/operations/moe-mpl")
    assert answer.status_code == 404
    assert links_of(answer.text)["Fused MoE expert MLP"] == "/operations/moe-mlp"


def test_an_operation_is_also_found_by_words_and_not_by_digits(site: TestClient) -> None:
    page = site.get("/operations/moe-mlp").text
    also = page.split("Also found as</dt>", 1)[1].split("</dd>", 1)[0]
    names = re.findall(r"<bdi[^>]*>([^<]+)</bdi>", also)
    assert {"fused-moe", "mixture-of-experts"} <= set(names)
    assert not [name for name in names if re.fullmatch("[0-9a-f]{8,64}", name)]


def test_roofline_stands_where_gpu_and_pass_are_asked_for(site: TestClient) -> None:
    plain = site.get("/operations/moe-mlp").text
    where = links_of(plain)["Roofline: achieved rates against the GPU’s peaks"]
    path, _, _ = where.partition("#")
    assert "/charts/roofline/" not in plain
    assert "/charts/roofline/" in site.get(path).text


def test_an_operation_nobody_mapped_shows_what_its_manifest_states(hostile: TestClient) -> None:
    listed = hostile.get("/operations").text
    page = hostile.get(links_of(listed)["scale"]).text
    assert "No cost model covers this operation" in page
    assert ["n", "varies"] in read_rows(page)
