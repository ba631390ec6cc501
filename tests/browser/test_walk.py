"""A visitor walks from a question to a note under review, with script and without."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.site import ORIGINAL, RECORD

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PARTS = (
    "primary",
    "identity",
    "correctness",
    "workload",
    "protocol",
    "environment",
    "notes",
    "source",
    "manifest",
    "cite",
)


@pytest.fixture(params=[True, False], ids=["script", "no-script"])
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, java_script_enabled=request.param)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    assert [one for one in errors if "Failed to load resource" not in one] == []


def new_key(database: str, *scopes: str) -> str:
    """A key from the command line, as an operator makes one."""
    command = [sys.executable, "-c", "from kernelindex.cli.main import run; run()"]
    options = [word for scope in scopes for word in ("--scope", scope)]
    made = subprocess.run(
        [
            *command,
            "--db",
            database,
            "keys",
            "new",
            "--owner",
            "Eve",
            "--actor",
            "Eve",
            *options,
            "--json",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    token: str = json.loads(made.stdout)["token"]
    return token


def follow(page: Page, selector: str) -> None:
    """Click what leads to another page, and wait for that page.

    A click alone returns before the answer to a form: what is read next may be the old page.
    """
    with page.expect_navigation():
        page.click(selector)


def ask(page: Page) -> None:
    page.goto("/")
    page.fill("main input[name=q]", RECORD)
    follow(page, "main button:has-text('Ask')")


def open_loop(page: Page) -> None:
    ask(page)
    follow(page, "table.rows tr:has-text('Loop over experts') td.v a")


def test_a_question_leads_to_the_answer(page: Page) -> None:
    ask(page)
    heading = page.text_content("h1") or ""
    assert heading.startswith("Liger fused MoE leads (only 2 measured), 5.75 ms, 11.1x ahead")
    assert page.input_value("input[name='axis.tokens']") == "8192"


def test_the_question_is_edited_part_by_part(page: Page) -> None:
    ask(page)
    page.fill("input[name='axis.tokens']", "5000")
    follow(page, "button:has-text('Ask again')")
    assert "tokens=5000" in page.input_value("header input[name=q]")
    assert "Not measured as asked" in (page.text_content("main") or "")


def test_the_run_has_every_part_of_the_original(page: Page) -> None:
    open_loop(page)
    text = " ".join((page.text_content("main") or "").split())
    for value in (
        "64.0 ms",
        "2 of 2, 11.1x behind #1",
        "source native",
        "experts=64",
        "1536",
        "cuda_events",
        "liger_kernel_bench",
        "NVIDIA H100",
        "sm_90",
        ORIGINAL,
    ):
        assert value in text
    for part in PARTS:
        assert page.locator(f"#{part}").count() == 1
        assert page.locator(f"#{part}").bounding_box() is not None


def test_compare_with_the_first_leads_to_liger(page: Page) -> None:
    open_loop(page)
    follow(page, "a:has-text('Compare with #1') >> nth=0")
    assert "Liger fused MoE" in (page.text_content("main") or "")
    assert "11.1x" in (page.text_content("main") or "")


def test_the_original_id_leads_to_the_run_and_its_json(page: Page) -> None:
    page.goto(f"/runs/{ORIGINAL}")
    place = page.url
    digest = page.text_content("#identity .digest >> nth=-1") or ""
    assert ORIGINAL not in place
    answer = page.request.get(f"/api/v1/runs/{place.rpartition('/')[2]}")
    assert answer.json()["primary"]["value"] == 63962017
    assert digest.startswith("sha256:")


def test_a_citation_is_whole(page: Page) -> None:
    page.goto(f"/runs/{ORIGINAL}")
    cited = page.text_content("#cite pre >> nth=1") or ""
    assert cited.startswith("@misc{kernelindex-")
    assert cited.endswith("}")


def test_a_note_shows_after_review_only(
    page: Page, database: str, request: pytest.FixtureRequest
) -> None:
    text = f"seen by {request.node.name}"  # one catalog takes the notes of both browsers
    key = new_key(database, "attest")
    page.goto(f"/runs/{ORIGINAL}")
    run = page.url
    page.goto(f"{run}/attest?kind=note")
    page.fill("textarea[name=text]", text)
    page.fill("input[name=key]", key)
    follow(page, "button:has-text('Send for review')")
    assert "waits for an operator" in (page.text_content("main") or "")
    page.goto(run)
    assert text not in (page.text_content("main") or "")
    review(page, new_key(database, "admin"), text)
    page.goto(run)
    shown = " ".join((page.text_content("#notes") or "").split())
    assert text in shown
    assert "never change" in shown


def review(page: Page, key: str, text: str) -> None:
    """Accept what says ``text``, as an operator on the operators' page."""
    page.goto("/admin")
    page.fill("input[name=key]", key)
    follow(page, "main form button")
    follow(page, "a[href^='/admin/queue/'] >> nth=0")
    assert text in (page.text_content("main") or "")
    if page.locator("select[name=decision]").count():
        page.select_option("select[name=decision]", "accept")
    else:
        page.check("input[name=decision][value=accept]")
    page.fill("[name=reason]", "it is so")
    follow(page, "form[action^='/admin/queue/'] button")


def test_an_issue_is_reported_without_a_key(page: Page) -> None:
    page.goto(f"/runs/{ORIGINAL}")
    follow(page, "a:has-text('Report an issue') >> nth=0")
    page.fill("textarea[name=text]", "the card was another one")
    follow(page, "button:has-text('Send for review')")
    assert "waits for an operator" in (page.text_content("main") or "")


def test_a_hostile_question_stays_text(page: Page) -> None:
    page.goto("/answer?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert page.locator("main img").count() == 0
