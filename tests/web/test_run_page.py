"""The dossier of the record: every part of the page it was specified from, with its values."""

from __future__ import annotations

import json
import re

import orjson
import pytest

from kernelindex.catalog import Catalog
from tests.support.html import Document
from tests.support.site import ORIGINAL, client, record, record_runs, starter

MOST_BYTES = 25_000
PARTS = (
    "primary",
    "identity",
    "correctness",
    "workload",
    "protocol",
    "environment",
    "rerun",
    "notes",
    "source",
    "manifest",
    "cite",
)


def page_of(digest: str) -> Document:
    answer = client().get(f"/runs/{digest.removeprefix('sha256:')[:12]}")
    assert answer.status_code == 200
    return Document(answer.text)


@pytest.fixture(scope="module")
def loop() -> Document:
    return page_of(record_runs()[1])


def test_the_original_id_leads_to_the_run() -> None:
    answer = client().get(f"/runs/{ORIGINAL}")
    assert answer.status_code == 302
    assert answer.headers["location"] == f"/runs/{record_runs()[1][7:19]}"


def test_the_whole_digest_and_a_prefix_answer_themselves() -> None:
    digest = record_runs()[1]
    for ident in (digest, digest[7:], digest[7:15]):
        assert client().get(f"/runs/{ident}").status_code == 200


def test_the_first_screen(loop: Document) -> None:
    assert "64.0 ms median latency, one sample" in loop.text
    assert "2 of 2, 11.1x behind #1. Compare with #1" in loop.text
    assert "Liger fused MoE leads (only 2 measured), 5.75 ms." in loop.text


def test_compare_with_the_first_leads_to_liger(loop: Document) -> None:
    leader, own = record_runs()
    (link,) = {one.attrs["href"] for one in loop.find("a") if one.text == "Compare with #1"}
    assert link == f"/compare?run={leader[7:19]}&run={own[7:19]}"
    assert "Liger fused MoE" in Document(client().get(link).text).text


def test_the_ladder_names_the_level_and_what_the_next_one_lacks(loop: Document) -> None:
    (reached,) = loop.find("li", class_="reached")
    assert (reached.text, reached.attrs["aria-current"]) == ("reported", "step")
    assert "Not yet reproducible: it lacks the exact source; " in loop.text


def test_blocking_doubts_come_first_and_the_shift_is_sized(loop: Document) -> None:
    labels = [one.text for one in loop.find("dt") if one.attrs.get("class") in {"blocks", "shifts"}]
    assert labels == ["blocks a claim", "blocks a claim", "shifts it, about +1.0 ms"]
    (more,) = [one.text for one in loop.find("summary") if one.text.startswith("+")]
    assert more == "+6 notes, one of which shifts the number by about +1.0 ms"


def test_both_limits_are_labelled(loop: Document) -> None:
    (drawing,) = loop.find("svg")
    words = "19.3 TFLOP/s; 0.0205 TB/s; 1.95 % of the nominal compute peak; "
    assert drawing.attrs["aria-label"].startswith(words)
    assert "attainable" in drawing.attrs["aria-label"]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_the_original_is_there(loop: Document, part: str) -> None:
    assert loop.text_of(part)


def test_identity(loop: Document) -> None:
    run, shown = record_runs()[1], loop.text_of("identity")
    known = starter().run(run)
    assert known is not None
    for text in (run, known.workload_digest, known.comparison_key or "", ORIGINAL, "0.7.0"):
        assert text in shown
    assert "Loop over experts in Liger's script" in shown


def test_primary_measurement(loop: Document) -> None:
    shown = loop.text_of("primary")
    for text in ("63,962,017 ns", "median latency", "source native", "2026-04-02 23:59:47"):
        assert text in shown
    assert "ms_50 = 63.96201705932617" in shown


def test_workload(loop: Document) -> None:
    shown = loop.text_of("workload")
    for text in ("experts=64", "tokens=8192", "uniform", "gate_up_proj 64 × 1536 × 2048 bf16"):
        assert text in shown


def test_protocol_and_environment(loop: Document) -> None:
    protocol, environment = loop.text_of("protocol"), loop.text_of("environment")
    assert "measurement timer cuda_events" in protocol
    assert "comparability family liger_kernel_bench" in protocol
    assert "timed pass backward" in protocol
    assert "sm_90" in environment
    assert "NVIDIA H100" in environment
    assert "No driver, CUDA or framework version is stated." in environment


def test_the_source_row_is_verbatim(loop: Document) -> None:
    row = starter().run(record_runs()[1]).source_rows[0]["row"]  # type: ignore[union-attr]
    shown = [one.text for one in loop.find("pre") if one.text.startswith('{"extra_benchmark')]
    assert orjson.loads(shown[0]) == row


def test_the_canonical_manifest_is_whole(loop: Document) -> None:
    stored = starter().manifest(record_runs()[1])
    shown = next(one.text for one in loop.find("pre") if '"BenchmarkRun"' in one.text)
    assert json.loads(shown) == stored.document  # type: ignore[union-attr]


def test_citation_and_more(loop: Document) -> None:
    assert "@misc{kernelindex-" in loop.text_of("cite")
    assert record_runs()[1] in loop.text_of("cite")
    assert f"/api/v1/runs/{record_runs()[1][7:19]}" in loop.links()
    assert any(link.startswith("/answer?q=moe-mlp") for link in loop.links())


def test_the_other_passes_and_the_source_are_linked(loop: Document) -> None:
    assert "/sources/liger-kernel-bench" in loop.links()
    assert "BSD-2-Clause" in loop.text_of("source")
    assert "never change" in loop.text_of("notes")


def test_the_leader_is_compared_with_nobody() -> None:
    leader = page_of(record_runs()[0])
    assert "1 of 2, 11.1x ahead of" in leader.text
    assert "Compare with #1" not in leader.text


def test_every_run_is_light_and_needs_no_script(starter_catalog: Catalog) -> None:
    for run in starter_catalog.runs(limit=100).rows:
        answer = client().get(f"/runs/{run.digest[7:19]}")
        assert answer.status_code == 200
        assert len(answer.content) <= MOST_BYTES, run.digest
        document = Document(answer.text)
        assert not document.find("script")
        assert not [one for one in document.all if "style" in one.attrs]


@pytest.fixture
def starter_catalog() -> Catalog:
    return starter()


def test_an_unknown_run_is_a_page_that_helps() -> None:
    answer = client().get("/runs/ffffffffffff")
    document = Document(answer.text)
    assert answer.status_code == 404
    assert "run.not_found" in document.text
    assert "/operations" in document.links()
    assert answer.headers["cache-control"] == "no-store"


def test_a_cohort_key_is_no_run() -> None:
    assert client().get(f"/runs/{record().cohorts[0].key[7:19]}").status_code == 404


def test_every_table_scrolls_in_its_own_room() -> None:
    """A table wider than a phone moves within the page and not the page with it."""
    for run in record_runs():
        text = client().get(f"/runs/{run.removeprefix('sha256:')[:12]}").text
        rooms = re.findall(r'(<div class="wide"[^>]*>)?\s*<table', text)
        assert len(rooms) > 1
        assert all(rooms)
