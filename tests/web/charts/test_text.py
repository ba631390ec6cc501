from __future__ import annotations

import unicodedata

import pytest

from kernelindex.web.charts.text import (
    clean_text,
    fit_text,
    has_known_width,
    narrowest_room,
    text_width,
    wrap_text,
)
from tests.web.charts.factories import HOSTILE


@pytest.mark.parametrize("text", HOSTILE)
def test_cleaned_text_hides_nothing_and_stays_on_one_line(text: str) -> None:
    cleaned = clean_text(text)
    assert {unicodedata.category(c) for c in cleaned} & {"Cc", "Cf", "Cs", "Zl", "Zp"} == set()
    assert len(cleaned) <= 200
    assert clean_text(cleaned) == cleaned


def test_what_is_hidden_is_shown_as_pages_show_it() -> None:
    assert clean_text("a\u202eb\x07") == "a\\u202eb\\u0007"
    assert clean_text("\ue000") == "\N{REPLACEMENT CHARACTER}"
    assert clean_text("é · 日本語 × µs") == "é · 日本語 × µs"


def test_stacked_marks_are_cut() -> None:
    assert clean_text("e" + "\u0301" * 40) == "e\u0301\u0301"


def test_widths_are_those_of_arial() -> None:
    assert text_width("0123456789", 10) == pytest.approx(55.6)
    assert text_width("iii", 10) == pytest.approx(6.66)
    assert text_width("iii", 10, bold=True) == pytest.approx(8.34)
    assert text_width("日", 10) == pytest.approx(10.0)


def test_a_letter_with_marks_is_as_wide_as_without() -> None:
    assert text_width("Ünïcødé", 10) == pytest.approx(text_width("Uncde", 10) + 6.0 + 2.78)
    assert has_known_width("Ünïcode × 日本語")
    assert not has_known_width("Ядро")


def test_a_line_for_the_edge_leaves_room_for_a_wider_font() -> None:
    assert 1.17 * narrowest_room(692) == pytest.approx(692)
    assert 1.25 * narrowest_room(692, bold=True) == pytest.approx(692)


def test_a_cut_text_fits_and_says_that_it_was_cut() -> None:
    cut = fit_text("a name much longer than its room", 80, 12)
    assert cut.endswith("…")
    assert 60 < text_width(cut, 12) <= 80
    assert fit_text("short", 80, 12) == "short"


def test_wrapped_lines_keep_every_word_until_the_last() -> None:
    lines = wrap_text("one two three four five six", 60, 12, 3)
    assert len(lines) == 3
    assert " ".join(lines).startswith("one two three four")
    assert all(text_width(line, 12) <= 60 for line in lines)
