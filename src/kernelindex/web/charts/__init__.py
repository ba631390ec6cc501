"""Charts as Vega-Lite with their data and words, drawn off the path of a page.

A chart function takes frozen inputs and gives a ``Chart`` or, where there is nothing honest
to draw, a ``NotDrawn`` with its reason; ``adapters`` makes the inputs from answers,
``figure`` what a page links, ``gallery`` and ``routes`` serve the files.
"""

from kernelindex.web.charts.cache import FileCache
from kernelindex.web.charts.chart import NARROW, WIDE, Chart, Frame, NotDrawn, Table
from kernelindex.web.charts.figure import (
    Figure,
    cohort_figure,
    limit_figure,
    subject_figure,
    sweep_figure,
)
from kernelindex.web.charts.gallery import Gallery
from kernelindex.web.charts.render import Renderer, RenderError
from kernelindex.web.charts.subjects import chart_of

__all__ = [
    "NARROW",
    "WIDE",
    "Chart",
    "Figure",
    "FileCache",
    "Frame",
    "Gallery",
    "NotDrawn",
    "RenderError",
    "Renderer",
    "Table",
    "chart_of",
    "cohort_figure",
    "limit_figure",
    "subject_figure",
    "sweep_figure",
]
