"""Names stand clear of the plot in the widest usual font, and are whole in their titles."""

from __future__ import annotations

import pytest

from kernelindex.web.charts.chart import NARROW, WIDE, Frame
from kernelindex.web.charts.text import _BOLD_WIDTHS, _WIDTHS, clean_text, text_width
from kernelindex.web.charts.widest import fit_widest, widest_width
from tests.web.charts.factories import HOSTILE, cohort, draw_cohort, entry, rows

NAMES = (
    "torch grouped_mm, hand-written backward, long",
    "W" * 60,
    "Ж" * 60,
    "日本語" * 20,
    "🚀" * 60,
)


def test_widths_are_those_of_dejavu_where_it_is_wider() -> None:
    assert widest_width("mmm", 10) == pytest.approx(29.22)
    assert widest_width("tft", 10) == pytest.approx(11.36)
    assert widest_width("Www", 10, bold=True) == pytest.approx(29.51)
    assert widest_width("日本", 10) == pytest.approx(20.0)
    assert widest_width("Ж🚀", 10) == pytest.approx(27.0)


def test_no_letter_is_narrower_than_in_arial() -> None:
    for bold, table in ((False, _WIDTHS), (True, _BOLD_WIDTHS)):
        narrower = [
            c for c in table if widest_width(c, 10, bold=bold) < text_width(c, 10, bold=bold)
        ]
        assert narrower == []


def test_a_name_that_fits_in_any_font_is_left_whole() -> None:
    name = "torch grouped_mm, hand-written backward"
    assert fit_widest(name, widest_width(name, 12.0), 12.0) == name
    cut = fit_widest(name, widest_width(name, 12.0) - 0.1, 12.0)
    assert cut == "torch grouped_mm, hand-written backwa…"


@pytest.mark.parametrize("frame", [WIDE, NARROW], ids=lambda frame: frame.name)
def test_names_of_a_cohort_end_before_the_plot_in_any_font(frame: Frame) -> None:
    entries = [
        entry(name, (i + 1) * 1e6, version=name, rank=(i + 1, i + 1))
        for i, name in enumerate((*NAMES, HOSTILE[9]))
    ]
    chart = draw_cohort(cohort(*entries), frame)
    plot = 0.0
    if frame.is_narrow:
        plot = min(row["x"] for row in rows(chart, "name") if row["text"][0].isdigit())
    sizes = (("name-lead", 12.0, True), ("name", 12.0, False), ("detail", 10.5, False))
    cut = [(row, *how) for style, *how in sizes for row in rows(chart, style) if "full" in row]
    assert len(cut) == 2 * len(entries)
    for row, size, bold in cut:
        end = row["x"] + widest_width(row["text"], size, bold=bold)
        assert plot - 70 < end < plot - 7
    assert {row["full"] for row, _, _ in cut} >= {clean_text(name) for name in NAMES}
