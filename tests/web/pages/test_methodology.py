"""The guide that the package carries is the one of the docs, and every word leads somewhere."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from kernelindex.policy.doubts import CODES
from kernelindex.web.pages.methodology import BRIEFS, GUIDE
from tests.support import shipped
from tests.support.shared import CHECKOUT


def test_the_packaged_guide_is_current() -> None:
    original = (CHECKOUT / "docs" / "guides" / "methodology.md").read_bytes()
    assert GUIDE.read_bytes() == original, "run: python scripts/copy_guides.py"


def test_every_doubt_of_the_policy_and_of_what_ships_stands_in_the_guide() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    for code, (effect, _) in CODES.items():
        assert re.search(rf"^\| {code} \| {effect}\b", guide, re.MULTILINE), code
    rows = [row for row in shipped.all_runs() if row.profile == "controlled"]
    for code in {doubt["code"] for row in rows for doubt in row.doubts}:
        assert code in guide, code


def test_the_guide_says_what_is_controlled_here() -> None:
    """The package has a runner, and signed batches of it that are verified."""
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    levels = {row.evidence for row in shipped.all_runs() if row.profile == "controlled"}
    assert "verified" in levels
    assert "No runner is part" not in text
    assert "`ki bench` is a runner that does this" in text


def test_every_word_leads_to_a_section(hostile: TestClient) -> None:
    page = hostile.get("/methodology").text
    for brief in BRIEFS:
        assert f'id="{brief.href[1:]}"' in page


def test_tables_and_code_are_rendered(hostile: TestClient) -> None:
    page = hostile.get("/methodology").text
    assert '<th scope="row">CORRECTNESS_NOT_ASSERTED</th><td>blocks</td>' in page
    assert "<code>kernelindex.policy</code>" in page
    assert "**" not in page
    assert len(page.encode()) < 25_000
