"""Tables of many columns are legible at every width: they stack before they are cut."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from tests.support.shipped import shipped

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDTHS = (390, 640, 700, 760, 820, 880, 940, 1000, 1100, 1440)
LEAST = 150
"""Pixels in which the name of what ran can be read."""
FAULTS = """least => [...document.querySelectorAll("table.dense")].flatMap(table => {
  const room = table.closest(".wide");
  const names = [...table.querySelectorAll("tbody .what")].map(
    cell => cell.getBoundingClientRect().width);
  const cut = room.scrollWidth - room.clientWidth;
  return cut > 0 || Math.min(...names) < least ? [[cut, Math.min(...names)]] : [];
})"""


def verified() -> str:
    rows = shipped().cohorts(families=["H200"], limit=100)
    return next(row.key for row in rows if row.profile == "controlled" and row.entry_count >= 5)


def paths() -> dict[str, str]:
    question = "moe-mlp tokens=8192 experts=64 gpu:H100 pass:backward"
    return {
        "cohort": f"/cohorts/{verified()[7:19]}",
        "answer": f"/answer?q={quote(question)}",
        "runs": "/runs?gpu=H200",
        "records": "/records",
        "operation": "/operations/moe-mlp",
    }


@pytest.mark.parametrize("name", ["cohort", "answer", "runs", "records", "operation"])
def test_no_table_is_cut_and_no_name_squeezed(
    browser: Browser, shipped_address: str, name: str
) -> None:
    with browser.new_context(base_url=shipped_address) as context:
        page = context.new_page()
        page.goto(paths()[name])
        assert page.locator("table.dense").count()
        found = {}
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if faults := page.evaluate(FAULTS, LEAST):
                found[width] = faults
        assert found == {}
