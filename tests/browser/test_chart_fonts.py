"""Names of a chart stand clear of its plot where no stated length is kept, in another font."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser

from kernelindex.web.charts.chart import NARROW, WIDE, Frame
from kernelindex.web.charts.looks import LookName
from kernelindex.web.charts.render import Renderer
from tests.web.charts.factories import cohort, draw_cohort, entry

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAMES = (
    "torch grouped_mm, hand-written backward (fourth revision)",
    "Transformers grouped_mm with a layer that is called so",
    "MMMM WWWW mmmm wwww %%%% MMMM WWWW mmmm wwww",
    "tttt ffff rrrr tttt ffff rrrr tttt ffff rrrr tttt ffff rrrr",
)
FONT = re.compile(r'font-family="[^"]*"')
LENGTH = re.compile(r' textLength="[^"]*" lengthAdjust="[^"]*"')
WIDTH_OF_M = "font => { const c = document.createElement('canvas').getContext('2d');"
WIDTH_OF_M += " c.font = `100px '${font}'`; return c.measureText('m').width; }"
ENDS = """() => [...document.querySelectorAll("text")].map(one => {
  const box = one.getBoundingClientRect();
  return [one.firstChild?.data ?? "", box.left, box.right, !!one.querySelector("title")];
})"""


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("frame", [WIDE, NARROW], ids=lambda frame: frame.name)
def test_names_in_dejavu_end_before_the_plot(
    browser: Browser, frame: Frame, look: LookName
) -> None:
    entries = [
        entry(name, (i + 1) * 1e6, version=name, rank=(i + 1, i + 1))
        for i, name in enumerate(NAMES)
    ]
    chart = draw_cohort(cohort(*entries), frame)
    with Renderer() as renderer:
        svg = renderer.draw(chart, look).decode()
    svg = FONT.sub('font-family="DejaVu Sans"', LENGTH.sub("", svg))
    assert "textLength" not in svg
    page = browser.new_page(viewport={"width": frame.width, "height": chart.height})
    page.set_content(f"<body style='margin:0'>{svg}</body>")
    if round(page.evaluate(WIDTH_OF_M, "DejaVu Sans")) != 97:
        pytest.skip("DejaVu Sans is not installed")
    found = page.evaluate(ENDS)
    page.close()
    begins = tuple(name[:4] for name in NAMES)
    ends = [right for text, _, right, cut in found if cut or text.startswith(begins)]
    assert len(ends) == 2 * len(NAMES)
    edge = chart.spec["padding"]["left"]
    if frame.is_narrow:
        edge = min(left for text, left, _, _ in found if re.fullmatch(r"[1-4]\.00", text))
    assert edge - 64 < max(ends) < edge - 7
    assert max(right for _, _, right, _ in found) <= frame.width
