from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from kernelindex.resolve.views import view_cohort
from kernelindex.web.cards import Card, CardRow, cohort_card
from kernelindex.web.charts.cache import FileCache
from kernelindex.web.charts.gallery import Gallery
from kernelindex.web.charts.render import Renderer
from tests.resolve.factories import cohort_row, entry_row, pair
from tests.web.charts.factories import HOSTILE, SVG

RUN = Card(
    heading="Liger fused MoE: backward on H100",
    setting="tokens=8192",
    figure="5.75 ms",
    sentence="1 of 2, 11.1x ahead.",
    levels=("reported", "reproducible", "verified", "replicated"),
    reached="reported",
    foot="run 0123",
)


def texts(card: Card) -> list[str]:
    return [one.text or "" for one in ET.fromstring(card.to_svg()).iter(f"{SVG}text")]


def record_card() -> Card:
    row, entries = pair("record")
    return cohort_card(view_cohort(row, entries, limit=8))


def test_a_cohort_card_has_rows_scale_and_level() -> None:
    card = record_card()
    assert [(row.rank, row.name, row.value, row.ratio) for row in card.rows] == [
        ("1", "Liger", "5.75 ms", "1.0x"),
        ("2", "MoE expert loop", "63.96 ms", "11.1x"),
    ]
    assert card.axis == "median latency, log scale"
    assert card.level == "reported"
    assert 0 <= card.rows[0].share < card.rows[1].share <= 1
    assert {"5.75 ms", "11.1x", "reported", "KernelIndex"} <= set(texts(card))


def test_at_most_four_rows_and_the_rest_are_counted() -> None:
    row = cohort_row("many", entry_count=30)
    entries = [entry_row(row, f"n{i}", position=i + 1, value=5e6 + i) for i in range(30)]
    card = cohort_card(view_cohort(row, entries, limit=8))
    assert len(card.rows) == 4
    assert card.axis == "median latency, from zero; 26 more, behind these"
    card = cohort_card(
        view_cohort(replace(row, unbeaten=tuple(map(str, range(10)))), entries, limit=8)
    )
    assert card.axis == "median latency, from zero; 26 more, 6 of them unbeaten too"


def test_a_group_without_entries_has_a_card_without_rows() -> None:
    card = cohort_card(view_cohort(cohort_row("none", entry_count=0), [], limit=8))
    assert card.rows == ()
    assert "No entry counts here." in texts(card)


def test_a_run_card_has_its_number_and_the_ladder() -> None:
    assert {"5.75 ms", "reported", "replicated", "run 0123"} <= set(texts(RUN))
    assert RUN.digest == replace(RUN).digest
    assert RUN.digest != replace(RUN, figure="5.76 ms").digest


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(text: str) -> None:
    row = CardRow(text, text, text, "", 9.0, leads=True, filled=False)
    for card in (
        replace(RUN, heading=text, setting=text, sentence=text, foot=text),
        replace(RUN, rows=(row,), heading=text, axis=text, level=text),
    ):
        tags = {one.tag.removeprefix(SVG) for one in ET.fromstring(card.to_svg()).iter()}
        assert tags <= {"svg", "title", "rect", "path", "circle", "text"}


class Once:
    """A renderer that draws one card and then no more."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer: Renderer | None = renderer

    def rasterise(self, svg: str) -> bytes:
        assert self._renderer is not None, "drawn twice"
        renderer, self._renderer = self._renderer, None
        return renderer.rasterise(svg)


def test_a_card_is_drawn_once_at_1200_by_630(renderer: Renderer, tmp_path: Path) -> None:
    gallery = Gallery(FileCache(tmp_path), Once(renderer), lambda *_: None)  # type: ignore[arg-type]
    png = gallery.card(record_card())
    assert struct.unpack(">II", png[16:24]) == (1200, 630)
    assert len(png) < 100_000
    assert gallery.card(record_card()) == png
