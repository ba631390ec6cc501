"""No text leaves its picture where a viewer has a wider font and heeds no stated length."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from kernelindex.web.charts.chart import NARROW, WIDE, Chart, Frame, NotDrawn
from kernelindex.web.charts.cohort import cohort_chart
from kernelindex.web.charts.limit_bar import limit_chart
from kernelindex.web.charts.render import Renderer
from kernelindex.web.charts.roofline import RooflinePoint, roofline_chart
from kernelindex.web.charts.samples import Generation, samples_chart
from kernelindex.web.charts.sweep import sweep_chart
from kernelindex.web.charts.text import FALLBACK, FALLBACK_BOLD, text_width
from tests.web.charts.factories import SVG, drawn, limit, line, record_pair, sweep
from tests.web.charts.test_limits import roofline
from tests.web.charts.test_samples import ecdf, ecdf_chart, samples

LONG = {
    "title": "Fused MoE expert MLP with routing, full, on H200 SXM 141GB: medians of rounds",
    "setting": "tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 · bf16 · "
    "controlled protocol 1, as do-bench-10, sustained, non-leaf weights",
    "source": "Source: KernelIndex H200 measurements, November 2026 (Apache-2.0), newest "
    "2026-11-30. KernelIndex group 09f10fdecc91. Source: KernelIndex runner (Apache-2.0).",
}
NAMES = ("torch grouped_mm, hand-written backward", "Loop over experts in Liger's script")
_PLACE = re.compile(r"translate\(([-0-9.]+)")
Draw = Callable[[Frame], Chart | NotDrawn]
CHARTS: dict[str, Draw] = {
    "cohort": lambda frame: cohort_chart(record_pair(tolerance=0.1, **LONG), frame),
    "sweep": lambda frame: sweep_chart(
        sweep(line(NAMES[0], {8: 1.0, 16: 3.0}), line(NAMES[1], {8: 2.0, 16: 1.0}), **LONG), frame
    ),
    "limit": lambda frame: limit_chart(limit(**LONG), frame),
    "samples": lambda frame: samples_chart(
        replace(samples(Generation(values=(1e6, 2e6), clock_mhz=(1980.0, 1900.0))), **LONG), frame
    ),
    "ecdf": lambda frame: ecdf_chart(replace(ecdf((1.0, 2.0), (3.0,)), **LONG), frame),
    "roofline": lambda frame: roofline_chart(
        replace(
            roofline(
                RooflinePoint(name=NAMES[0], intensity=50.0, tflops=100.0, group=f"({NAMES[1]})"),
                RooflinePoint(name=NAMES[1], intensity=50.0, tflops=90.0, group=f"({NAMES[0]})"),
            ),
            **LONG,
        ),
        frame,
    ),
}


def spans(node: ET.Element, left: float = 0.0) -> Iterator[tuple[str, float, float]]:
    """Every text with its ends in pixels, as wide as the fallback font draws it."""
    moved = _PLACE.match(node.get("transform") or "")
    left += float(moved[1]) if moved else 0.0
    if node.tag == f"{SVG}text" and node.text:
        bold = node.get("font-weight") == "bold"
        size = float((node.get("font-size") or "0").removesuffix("px"))
        width = text_width(node.text, size, bold=bold) * (FALLBACK_BOLD if bold else FALLBACK)
        start = left - width * {"middle": 0.5, "end": 1.0}.get(node.get("text-anchor") or "", 0.0)
        yield node.text, start, start + width
    for child in node:
        yield from spans(child, left)


@pytest.mark.parametrize("frame", [WIDE, NARROW], ids=lambda frame: frame.name)
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.slow
def test_every_text_ends_inside_the_picture(name: str, frame: Frame, renderer: Renderer) -> None:
    found = list(spans(ET.fromstring(renderer.draw(drawn(CHARTS[name](frame))))))
    assert len(found) > 5
    outside = [one for one in found if one[1] < 0 or one[2] > frame.width]
    assert outside == []
    said = " ".join(text for text, _, _ in found)
    assert "sustained, non-leaf weights" in said
