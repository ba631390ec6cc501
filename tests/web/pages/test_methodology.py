"""The guide that the package carries is the one of the docs, and every word leads somewhere."""

from __future__ import annotations

from starlette.testclient import TestClient

from kernelindex.web.pages.methodology import BRIEFS, GUIDE
from tests.support.shared import CHECKOUT


def test_the_packaged_guide_is_current() -> None:
    original = (CHECKOUT / "docs" / "guides" / "methodology.md").read_bytes()
    assert GUIDE.read_bytes() == original, "run: python scripts/copy_guides.py"


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
