from __future__ import annotations

import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.resolve.answer import Range
from kernelindex.web.badges import (
    GROUNDS,
    INK,
    LABEL_GROUND,
    Badge,
    best_badge,
    level_badge,
    unknown_badge,
)
from tests.web.charts.factories import HOSTILE, SVG
from tests.web.charts.test_render import contrast


def dossier(
    rank: tuple[int, int] | None = (1, 1),
    level: str = "reported",
    *,
    entry_count: int = 3,
    only_result: bool = False,
    represented_by: str | None = None,
) -> Any:
    return SimpleNamespace(
        title="Liger fused MoE on H100",
        summary="5.75 ms; 1 of 3.",
        ladder=SimpleNamespace(reached=level, next="reproducible", missing=("raw samples",)),
        hardware=SimpleNamespace(family="H100", label="H100 SXM"),
        standing=SimpleNamespace(
            rank=Range(low=rank[0], high=rank[1]) if rank else None,
            entry_count=entry_count,
            only_result=only_result,
            represented_by=represented_by,
        ),
    )


@pytest.mark.parametrize(
    ("found", "message", "tone"),
    [
        (dossier(), "best on H100, reported", "claim"),
        (dossier(level="verified"), "best on H100", "trust"),
        (dossier((1, 2), level="verified"), "1-2 of 3 on H100", "plain"),
        (dossier((2, 2)), "2 of 3 on H100", "plain"),
        (dossier(None, only_result=True), "only result on H100", "plain"),
        (dossier(represented_by="sha256:1"), "not its entry's best run on H100", "plain"),
    ],
)
def test_best_is_said_only_of_one_that_leads_alone(found: Any, message: str, tone: str) -> None:
    badge = best_badge(found)
    assert (badge.message, badge.tone) == (message, tone)
    assert badge.meaning == "5.75 ms; 1 of 3."


def test_a_level_badge_names_what_the_next_lacks() -> None:
    badge = level_badge(dossier())
    assert (badge.message, badge.tone) == ("reported", "plain")
    assert badge.meaning == (
        "Liger fused MoE on H100 is reported. reproducible lacks: raw samples."
    )
    assert level_badge(dossier(level="verified")).tone == "trust"


def test_a_badge_has_its_words_as_text_and_as_title() -> None:
    root = ET.fromstring(Badge("best on H200", "trust", "It leads.").to_svg())
    assert [one.text for one in root.iter(f"{SVG}text")] == ["kernelindex", "best on H200"]
    assert root.findtext(f"{SVG}title") == "kernelindex: best on H200. It leads."
    assert root.get("role") == "img"


@pytest.mark.parametrize("ground", [*GROUNDS.values(), LABEL_GROUND])
def test_badge_text_has_contrast(ground: str) -> None:
    assert contrast(INK, ground) >= 4.5


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words_and_bounded(text: str) -> None:
    root = ET.fromstring(Badge(text, "plain", text).to_svg())
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {
        "svg",
        "title",
        "rect",
        "path",
        "g",
        "text",
    }
    assert int(root.get("width") or 0) < 700


def test_an_unknown_run_says_so() -> None:
    assert unknown_badge().message == "not found"
