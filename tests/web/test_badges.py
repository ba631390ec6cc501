from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.resolve.answer import Range
from kernelindex.resolve.rivals import Rivals
from kernelindex.web.badges import (
    GROUNDS,
    INK,
    LABEL_GROUND,
    Badge,
    best_badge,
    level_badge,
    unknown_badge,
)
from tests.support import shipped
from tests.web.charts.factories import HOSTILE, SVG
from tests.web.charts.test_render import contrast


def dossier(
    rank: tuple[int, int] | None = (1, 1),
    level: str = "reported",
    *,
    only_result: bool = False,
    represented_by: str | None = None,
    **changes: Any,
) -> Any:
    fields = {
        "title": "Liger fused MoE on H100",
        "summary": "5.75 ms; 1 of 3.",
        "primary": SimpleNamespace(value=5.75e6),
        "retracted": None,
        "ladder": SimpleNamespace(reached=level, next="reproducible", missing=("raw samples",)),
        "hardware": SimpleNamespace(family="H100", label="H100 SXM"),
        "standing": SimpleNamespace(
            rank=Range(low=rank[0], high=rank[1]) if rank else None,
            entry_count=3,
            only_result=only_result,
            represented_by=represented_by,
        ),
    }
    return SimpleNamespace(**fields | changes)


ALONE, BESIDE, BEHIND = Rivals(), Rivals(groups=2), Rivals(groups=2, ahead=True)


@pytest.mark.parametrize(
    ("found", "rivals", "message", "tone"),
    [
        (dossier(), ALONE, "best of 3, reported, H100", "claim"),
        (dossier(level="verified"), BESIDE, "best of 3, verified, H100", "trust"),
        (dossier(), BEHIND, "leads its group of 3, reported, H100", "claim"),
        (dossier((1, 2), "verified"), ALONE, "1-2 of 3, verified, H100", "plain"),
        (dossier((2, 2)), BEHIND, "2 of 3, reported, H100", "plain"),
        (dossier(None, only_result=True), ALONE, "only result, reported, H100", "plain"),
        (
            dossier(None, "verified", only_result=True),
            BESIDE,
            "only result of its group, verified, H100",
            "plain",
        ),
        (
            dossier(represented_by="sha256:1"),
            ALONE,
            "not its entry's best run, H100",
            "plain",
        ),
        (dossier(None, primary=None), ALONE, "no result, H100", "plain"),
        (dossier(None, primary=None, retracted="ours"), ALONE, "no result, H100", "plain"),
        (dossier(None, retracted="wrong card"), ALONE, "retracted, H100", "plain"),
        (dossier(None), ALONE, "not ranked, H100", "plain"),
    ],
)
def test_best_is_said_only_of_one_that_leads_alone(
    found: Any, rivals: Rivals, message: str, tone: str
) -> None:
    badge = best_badge(found, rivals)
    assert (badge.message, badge.tone) == (message, tone)
    assert badge.meaning == "5.75 ms; 1 of 3."


def _message(digest: str) -> str:
    answer = shipped.client().get(f"/badges/{digest[7:19]}/best.svg")
    texts = [one.text for one in ET.fromstring(answer.text).iter(f"{SVG}text")]
    return str(texts[1])


@pytest.mark.slow
def test_a_run_without_a_number_is_no_result() -> None:
    runs = (*shipped.withdrawn(), *shipped.aborted())
    assert len(runs) > 30
    assert {_message(digest) for digest in runs} == {"no result, H200"}


@pytest.mark.slow
def test_best_of_a_gpu_is_said_of_the_fastest_that_is_verified() -> None:
    """Of the H200 groups of each pass, by whose leader is first in time; once for a line."""
    others: dict[str, list[float]] = {}
    best: dict[str, list[float]] = {}
    for row in shipped.all_runs():
        ranked = row.rank is not None and not row.reasons and row.metric == "latency"
        of_shape = row.operation == "moe-mlp" and row.device["family"] == "H200"
        if of_shape and ranked and row.value is not None:
            if re.fullmatch(r"best of 1[34], verified, H200", _message(row.digest)):
                best.setdefault(row.timed_pass, []).append(row.value)
            else:
                assert not _message(row.digest).startswith("best of")
            if row.line["id"] != "kernelindex/moe_mlp":
                others.setdefault(row.timed_pass, []).append(row.value)
    assert {name: len(found) for name, found in best.items()} == dict.fromkeys(others, 1)
    assert all(best[name][0] < min(others[name]) for name in others)


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
