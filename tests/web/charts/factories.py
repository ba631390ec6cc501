"""Small chart inputs, and ways to look into a specification and an SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any

from kernelindex.web.charts.chart import WIDE, Chart, Frame, NotDrawn
from kernelindex.web.charts.cohort import CohortEntry, CohortInput, Floor, cohort_chart
from kernelindex.web.charts.limit_bar import LimitInput
from kernelindex.web.charts.staircase import RecordsInput, RecordStep
from kernelindex.web.charts.sweep import SweepInput, SweepLine, SweepPoint

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><image xlink:href="javascript:alert(1)"/>',
    "]]><foreignObject>&lt;b&gt;</foreignObject>",
    "\u202egnp.exe\u2066 right to left",
    "bell\x07 null\x00 escape\x1b[31m",
    "line\nbreak\ttab",
    "日本語の名前をした実装",
    "e" + "\u0301" * 40,
    "\ud800 lone surrogate",
    "w" * 200,
    "datum.value + alert(1)",
    "=HYPERLINK(1)",
    "",
)


def entry(name: str = "a", value: float = 1e6, **changes: Any) -> CohortEntry:
    fields: dict[str, Any] = {"version": "1.0", "level": "reported", "rank": (1, 1), "ratio": 1.0}
    return CohortEntry(name=name, value=value, **{**fields, **changes})


LIGER = entry("Liger fused MoE", 5_751_872.0)
LOOP = entry("Loop over experts", 63_962_017.0, rank=(2, 2), ratio=63_962_017 / 5_751_872)


def cohort(*entries: CohortEntry, **changes: Any) -> CohortInput:
    fields: dict[str, Any] = {
        "title": "Fused MoE expert MLP, backward, on H100 SXM",
        "setting": "tokens=8192 · bf16",
        "source": "Source: Liger-Kernel benchmarks.",
        "metric": "latency",
        "statistic": "median",
        "unit": "ns",
        "direction": "lower",
    }
    return CohortInput(**{**fields, "entries": entries, **changes})


def record_pair(**changes: Any) -> CohortInput:
    return cohort(LIGER, LOOP, **{"floor": Floor(1_250_000.0, "nominal"), **changes})


def line(name: str, values: Mapping[int, float], *, verified: bool = False) -> SweepLine:
    return SweepLine(name, tuple(SweepPoint(size, v, verified) for size, v in values.items()))


def sweep(*lines: SweepLine, **changes: Any) -> SweepInput:
    fields: dict[str, Any] = {
        "title": "Fused MoE, by experts",
        "setting": "tokens=8192",
        "source": "Source: here.",
        "axis": "experts",
        "unit": "ns",
        "direction": "lower",
    }
    return SweepInput(**{**fields, "lines": lines, **changes})


def limit(**changes: Any) -> LimitInput:
    fields: dict[str, Any] = {
        "title": "Liger fused MoE: distance to the limit",
        "setting": "backward",
        "source": "Source: here.",
        "unit": "ns",
        "value": 5_000_000.0,
        "nominal": 1_000_000.0,
        "attainable": 1_500_000.0,
        "bound": "compute",
    }
    return LimitInput(**{**fields, **changes})


def records(*steps: RecordStep, **changes: Any) -> RecordsInput:
    fields: dict[str, Any] = {
        "title": "Leaders",
        "setting": "tokens=8192",
        "source": "Source: here.",
        "metric": "latency, median",
        "unit": "ns",
        "direction": "lower",
    }
    return RecordsInput(**{**fields, "steps": steps, **changes})


def drawn(found: Chart | NotDrawn) -> Chart:
    assert isinstance(found, Chart), found
    return found


def draw_cohort(data: CohortInput, frame: Frame = WIDE) -> Chart:
    return drawn(cohort_chart(data, frame))


def layers(chart: Chart) -> Iterator[dict[str, Any]]:
    """Every layer with marks, groups opened."""
    waiting = list(chart.spec["layer"])
    while waiting:
        one = waiting.pop(0)
        waiting = [*one["layer"], *waiting] if "layer" in one else waiting
        if "mark" in one:
            yield one


def rows(chart: Chart, style: str) -> list[dict[str, Any]]:
    """The data of all layers of a style."""
    return [
        row
        for one in layers(chart)
        if one["mark"]["style"] == style
        for row in one["data"]["values"]
    ]


def plotted(chart: Chart, style: str, field: str) -> list[float]:
    """One data field of a style, key signs left out."""
    return [row[field] for row in rows(chart, style) if field in row]


def words(chart: Chart) -> list[str]:
    """Every text on the drawing."""
    return [row["text"] for one in layers(chart) for row in one["data"]["values"] if "text" in row]


def axis_titles(chart: Chart) -> set[str]:
    return {
        channel["axis"]["title"]
        for one in layers(chart)
        for channel in one["encoding"].values()
        if channel.get("axis") and channel["axis"].get("title")
    }


def svg_texts(svg: bytes) -> list[str]:
    return ["".join(one.itertext()) for one in ET.fromstring(svg).iter(f"{SVG}text")]
