"""What a page needs to show a chart: addresses, size, words, and the table beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex.web.charts.gallery import address_of

if TYPE_CHECKING:
    from kernelindex.web.charts.chart import Chart, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart on a page: a ``<picture>`` of four SVGs, links, and its numbers."""

    title: str = field(metadata={"help": "what the chart shows"})
    alt: str = field(metadata={"help": "what it says, for those who do not see it"})
    source: str = field(metadata={"help": "where the numbers come from"})
    table: Table = field(metadata={"help": "the numbers, unrounded"})
    width: int = field(metadata={"help": "natural width of the wide drawing in pixels"})
    height: int = field(metadata={"help": "its natural height"})
    wide: str = field(metadata={"help": "address of the SVG, light"})
    wide_dark: str = field(metadata={"help": "address of the SVG, dark"})
    narrow: str = field(metadata={"help": "address of the SVG for phones, light"})
    narrow_dark: str = field(metadata={"help": "address of the SVG for phones, dark"})
    png: str = field(metadata={"help": "address of the PNG"})
    csv: str = field(metadata={"help": "address of the numbers as CSV"})
    spec: str = field(metadata={"help": "address of the Vega-Lite specification"})


def figure_of(wide: Chart, narrow: Chart, subject: str = "") -> Figure:
    """The figure of a chart drawn for both frames; ``subject`` keeps its links alive."""
    return Figure(
        title=wide.title,
        alt=wide.alt,
        source=wide.source,
        table=wide.table,
        width=wide.width,
        height=wide.height,
        wide=address_of(wide).path(subject),
        wide_dark=address_of(wide, "dark").path(subject),
        narrow=address_of(narrow).path(subject),
        narrow_dark=address_of(narrow, "dark").path(subject),
        png=address_of(wide, ending="png").path(subject),
        csv=address_of(wide, ending="csv").path(subject),
        spec=address_of(wide, ending="json").path(subject),
    )
