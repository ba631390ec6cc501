"""The answer's first screen, its editable parts, and what it says when it cannot answer."""

from __future__ import annotations

import shlex
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support import shipped
from tests.support.html import Document
from tests.support.site import RECORD, client, record, record_runs

LEVELS = ("reported", "reproducible", "verified", "replicated")


def ask(question: str, status: int = 200) -> Document:
    answer = client().get("/answer", params={"q": question})
    assert answer.status_code == status
    return Document(answer.text)


@pytest.fixture(scope="module")
def page() -> Document:
    return ask(RECORD)


def test_the_sentence_is_the_heading(page: Document) -> None:
    (heading,) = page.find("h1")
    assert heading.text == record().summary
    assert heading.text.startswith("Liger fused MoE leads (only 2 measured), 5.75 ms, 11.1x ahead")


def test_what_was_assumed_is_said(page: Document) -> None:
    assert record().assumptions[0].text in page.text


def test_three_slots_and_what_would_fill_the_empty_ones(page: Document) -> None:
    assert "Best reported Liger fused MoE 5.75 ms" in page.text
    assert "Best verified Empty; it would take a controlled run" in page.text
    assert "Best deployable Empty. For Liger fused MoE: " in page.text


def test_rows_carry_value_ratio_limit_level_and_doubts(page: Document) -> None:
    rows = [" ".join(one.text.split()) for one in page.find("tr")]
    (first,) = [row for row in rows if row.startswith("1 Liger fused MoE")]
    (second,) = [row for row in rows if row.startswith("2 Loop over experts")]
    assert "0.7.0 5.75 1.0x 215.1 21.7" in first
    assert "0.7.0 63.96 11.1x 19.3 2.0" in second
    assert second.endswith("reported restated implementation")


def test_a_value_links_to_its_run(page: Document) -> None:
    leader, loop = record_runs()
    assert {f"/runs/{leader[7:19]}", f"/runs/{loop[7:19]}"} <= set(page.links())


def test_the_question_can_be_edited_part_by_part(page: Document) -> None:
    fields = {one.attrs["name"]: one.attrs.get("value") for one in page.find("input")}
    assert fields["op"] == "fused-moe"
    assert fields["axis.tokens"] == "8192"
    assert fields["gpu"] == "H100"


def test_the_parts_lead_to_the_question_as_text() -> None:
    parts = {"op": "fused-moe", "axis.tokens": "8192", "axis.k": " ", "dtype": "bf16"}
    answer = client().get("/answer", params={**parts, "pass": "backward", "evidence": "verified"})
    assert answer.status_code == 302
    query = parse_qs(urlsplit(answer.headers["location"]).query)["q"]
    assert query == ["fused-moe tokens=8192 bf16 pass:backward evidence:verified"]


@pytest.mark.parametrize(
    "query",
    ["zap=1", "q=moe&gpu=H100", "q=moe&q=softmax", "tokens=8192&op=moe", "op=moe&op=softmax"],
)
def test_nothing_is_answered_without_a_part_of_what_was_asked(query: str) -> None:
    answer = client().get(f"/answer?{query}")
    assert (answer.status_code, "request.parameter" in answer.text) == (400, True)


def test_nothing_asked_leads_home() -> None:
    assert client().get("/answer").headers["location"] == "/"


def test_many_groups_are_a_row_each() -> None:
    page = ask("moe-mlp H200")
    assert "Several groups fit" in page.text or "Exact answer" in page.text
    assert len([link for link in page.links() if link.startswith("/cohorts/")]) >= 6


def test_a_near_miss_names_every_difference() -> None:
    page = ask(RECORD.replace("tokens=8192", "tokens=5000"))
    assert "Not measured as asked" in page.text
    assert "tokens 8192 instead of 5000" in page.text


def test_an_unreadable_question_is_refused_with_its_reasons() -> None:
    page = ask("tokens=many colour:red", status=400)
    assert page.find("h1")[0].text == "This question cannot be read."
    assert "many" in page.text


def test_a_typo_is_corrected_and_said() -> None:
    assert "fused-mo" in ask(RECORD.replace("fused-moe", "fused-mo")).text


def test_the_command_line_is_offered(page: Document) -> None:
    assert f"ki resolve {RECORD}" in page.text


def test_a_question_of_markup_stays_text() -> None:
    answer = client().get("/answer", params={"q": "<script>alert(1)</script>"})
    assert "<script" not in answer.text
    assert "&lt;script&gt;" in answer.text


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("fused-moe tokens=8192 gpu:H100", "ki resolve fused-moe tokens=8192 gpu:H100"),
        ("moe;reboot $(id) `id` <a >b", "ki resolve 'moe;reboot' '$(id)' '`id`' '<a' '>b'"),
        ("moe\n& id", "ki resolve moe '&' id"),
        ("--db x", "ki resolve -- --db x"),
    ],
)
def test_the_line_for_a_shell_runs_nothing_of_the_question(question: str, line: str) -> None:
    answer = client().get("/answer", params={"q": question})
    (shown,) = [one.text for one in Document(answer.text).find("pre") if "resolve" in one.text]
    assert shown.strip() == line
    assert shlex.split(shown)[2:][-len(question.split()) :] == question.split()


FORWARD = (
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H200 pass:forward"
)


def conditioned(condition: str) -> Document:
    answer = shipped.client().get("/answer", params={"q": f"{FORWARD} {condition}"})
    assert answer.status_code == 200
    return Document(answer.text)


def test_every_row_has_the_level_asked_for_and_the_rest_is_counted() -> None:
    page = conditioned("evidence:verified")
    levels = [one.text for one in page.find("td") if one.text in LEVELS]
    assert len(levels) > 10
    assert set(levels) == {"verified"}
    assert (
        "Left out: 7 runs below verified; ranks and ratios are as among all entries." in page.text
    )
    assert "2 more groups fit, but nothing in them meets the conditions" in page.text


def test_ranks_stay_where_the_leader_is_left_out() -> None:
    page = conditioned("framework:sonic-moe")
    rows = [" ".join(one.text.split()) for one in page.find("tr")]
    assert any(row.startswith("5 SonicMoE") for row in rows)
    assert not any("KernelIndex moe_mlp" in row.partition("was asked for")[0] for row in rows[:8])
    said = "11 more do not meet the conditions asked for; ranks and ratios are among all 13"
    assert said in page.text
    assert page.find("figure") == []


def test_a_level_that_nothing_has_is_said_and_what_to_ask_instead() -> None:
    page = conditioned("evidence:replicated")
    assert "Measured, but nothing meets the conditions" in page.text
    assert "Left out: 40 runs below replicated." in page.text
    assert "without conditions, with the 40 runs that do not meet them" in page.text
