"""The reference page is what the code says."""

from __future__ import annotations

from kernelindex.api import CODES
from kernelindex.api.reference import api_markdown
from tests.support.shared import CHECKOUT


def test_the_page_is_current() -> None:
    written = (CHECKOUT / "docs" / "reference" / "api.md").read_text()
    assert written == api_markdown(), (
        "run `python -m kernelindex.api.reference --write docs/reference`"
    )


def test_every_code_has_its_line() -> None:
    page = api_markdown()
    for code in CODES.values():
        assert f"| `{code.code}` | {code.status} | {code.title} |" in page
