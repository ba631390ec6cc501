from __future__ import annotations

import math
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from kernelindex.web.charts.chart import NARROW, Chart
from kernelindex.web.charts.looks import LOOKS
from kernelindex.web.charts.render import Renderer, RenderError, settle_texts
from kernelindex.web.charts.text import text_width
from tests.web.charts.factories import (
    HOSTILE,
    LIGER,
    SVG,
    cohort,
    draw_cohort,
    entry,
    record_pair,
    svg_texts,
)

RECORD = draw_cohort(record_pair(tolerance=0.06))


def contrast(first: str, second: str) -> float:
    """WCAG 2 contrast ratio of two #rrggbb colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(a * b for a, b in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_record_pair_as_svg(renderer: Renderer) -> None:
    svg = renderer.draw(RECORD)
    root = ET.fromstring(svg)
    assert (root.get("width"), root.get("height")) == (str(RECORD.width), str(RECORD.height))
    assert root.get("role") == "img"
    assert [root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")] == [
        RECORD.title,
        RECORD.alt,
    ]
    assert {"5.75", "63.96", "11.1x", "latency, median (ms), log scale"} <= set(svg_texts(svg))
    assert svg == renderer.draw(RECORD)


def test_dots_stand_where_the_log_axis_puts_them(renderer: Renderer) -> None:
    ground = LOOKS["light"].ground
    dots = [
        one
        for one in ET.fromstring(renderer.draw(RECORD)).iter(f"{SVG}path")
        if one.get("fill") == ground and one.get("stroke") in ("#1c5cb8", "#1a1d21")
    ]
    places = [float((one.get("transform") or "").split("(")[1].split(",")[0]) for one in dots]
    scale = next(
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in RECORD.spec["layer"]
        if layer["mark"]["style"] == "dot-hollow"
    )
    width = RECORD.spec["width"]
    wanted = [
        math.log(value / scale[0]) / math.log(scale[1] / scale[0]) * width
        for value in (5.751872, 63.962017)
    ]
    assert places[:2] == pytest.approx(wanted, abs=0.01)


def test_texts_keep_their_width_in_any_font(renderer: Renderer) -> None:
    texts = list(ET.fromstring(renderer.draw(RECORD)).iter(f"{SVG}text"))
    lengths = {one.text: float(one.get("textLength") or 0) for one in texts}
    assert lengths["5.75"] == pytest.approx(text_width("5.75", 12), abs=0.06)
    assert {one.get("lengthAdjust") for one in texts} == {"spacingAndGlyphs"}
    assert lengths[RECORD.title] == pytest.approx(text_width(RECORD.title, 15, bold=True), abs=0.06)


def test_a_text_of_unknown_width_is_left_alone() -> None:
    told = '<text font-size="12px">Ядро</text><text font-size="12px">a &amp; b</text>'
    pinned = settle_texts(told)
    assert pinned.startswith('<text font-size="12px">Ядро</text>')
    fixed = f'textLength="{text_width("a & b", 12):.1f}" lengthAdjust="spacingAndGlyphs"'
    assert f"{fixed}>a &amp; b</text>" in pinned


def test_a_cut_name_is_whole_in_its_title(renderer: Renderer) -> None:
    name = 'torch <b>grouped_mm</b> & "hand-written" backward, long'
    for look in LOOKS:
        root = ET.fromstring(renderer.draw(draw_cohort(cohort(entry(name), LIGER)), look))
        told = {one.text: one.findtext(f"{SVG}title") for one in root.iter(f"{SVG}text")}
        assert [(text, full) for text, full in told.items() if full] == [
            ('torch <b>grouped_mm</b> & "hand…', name)
        ]
        assert told["Liger fused MoE"] is None
        assert not any("aria-label" in one.attrib for one in root.iter(f"{SVG}text"))


def test_dark_differs_in_colour_only(renderer: Renderer) -> None:
    light, dark = renderer.draw(RECORD, "light"), renderer.draw(RECORD, "dark")
    assert svg_texts(light) == svg_texts(dark)
    assert b"#12151a" in dark
    assert b"#12151a" not in light


@pytest.mark.parametrize("look", ["light", "dark"])
def test_text_and_marks_have_contrast(look: str) -> None:
    found = LOOKS[look]  # type: ignore[index]
    assert contrast(found.ink, found.ground) >= 7
    assert contrast(found.muted, found.ground) >= 4.5
    assert contrast(found.accent, found.ground) >= 4.5


def test_a_png_is_twice_the_natural_size(renderer: Renderer) -> None:
    narrow = draw_cohort(record_pair(), NARROW)
    png = renderer.draw(narrow, "dark", "png")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (2 * narrow.width, 2 * narrow.height)
    assert len(png) < 60_000


def hostile_chart() -> Chart:
    entries = [
        entry(name, 1e6 * (place + 1), version=name, rank=(place + 1, place + 1))
        for place, name in enumerate(HOSTILE[:8])
    ]
    return draw_cohort(
        cohort(
            *entries,
            title=HOSTILE[0],
            setting=HOSTILE[1],
            source=HOSTILE[2],
            metric=HOSTILE[4],
            statistic=HOSTILE[3],
        )
    )


def test_hostile_names_are_harmless_and_visible(renderer: Renderer) -> None:
    svg = renderer.draw(hostile_chart())
    root = ET.fromstring(svg)
    names = {one.tag.removeprefix(SVG) for one in root.iter()}
    assert names <= {"svg", "g", "path", "rect", "line", "text", "tspan", "title", "desc"}
    attributes = {name for one in root.iter() for name in one.attrib}
    assert not any("href" in name or name.startswith("on") for name in attributes)
    said = "".join(svg_texts(svg))
    assert "<script>alert(1)</script>" in said
    assert "\u202e" not in said
    assert "\\u202egnp.exe" in said
    assert (root.get("width"), root.get("height")) == ("720", str(hostile_chart().height))


@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_name_has_a_digest(name: str) -> None:
    assert len(draw_cohort(cohort(entry(name), LIGER)).digest) == 32


def test_a_drawing_that_takes_too_long_is_stopped() -> None:
    with Renderer(time_limit_s=0.02) as slow:
        with pytest.raises(RenderError) as caught:
            slow.draw(RECORD)
        assert caught.value.code == "chart.render_timeout"


def test_a_refused_drawing_is_an_error_and_the_next_one_works(renderer: Renderer) -> None:
    with pytest.raises(RenderError, match="vl-convert refused") as caught:
        renderer.rasterise("<not svg")
    assert caught.value.code == "chart.render_failed"
    assert renderer.rasterise('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>')


def test_nothing_is_fetched(renderer: Renderer) -> None:
    spec = {
        **RECORD.spec,
        "layer": [
            {
                "data": {"url": "https://example.org/data.json"},
                "mark": {"type": "text", "style": "note"},
                "encoding": {"text": {"field": "a"}},
            }
        ],
    }
    with pytest.raises(RenderError):
        renderer.draw(replace(RECORD, spec=spec))
