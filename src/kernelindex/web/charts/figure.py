"""What a page needs to show a chart: addresses, size, words, and the table beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from kernelindex.web.charts.adapters import (
    cohort_input,
    limit_input,
    samples_input,
    sweep_input,
)
from kernelindex.web.charts.chart import NARROW, WIDE, Chart
from kernelindex.web.charts.cohort import cohort_chart
from kernelindex.web.charts.ecdf import ecdf_chart
from kernelindex.web.charts.gallery import address_of
from kernelindex.web.charts.limit_bar import limit_chart
from kernelindex.web.charts.samples import samples_chart
from kernelindex.web.charts.series import find_generations
from kernelindex.web.charts.subjects import chart_of, pair_input
from kernelindex.web.charts.sweep import sweep_chart
from kernelindex.web.charts.words import KEY_DIGITS
from kernelindex.web.context import told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex.resolve.answer import Cohort
    from kernelindex.resolve.dossier import RunDossier, RunLine
    from kernelindex.resolve.reads import Reads
    from kernelindex.web.charts.chart import Frame, Kind, NotDrawn, Table
    from kernelindex.web.charts.samples import SamplesInput
    from kernelindex.web.charts.series import SeriesReads
    from kernelindex.web.charts.subjects import ChartReads

STRIPS_KEPT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart on a page: a ``<picture>`` of four SVGs, links, and its numbers."""

    title: str = field(metadata=told("what the chart shows"))
    alt: str = field(metadata=told("what it says, for those who do not see it"))
    source: str = field(metadata=told("where the numbers come from"))
    table: Table = field(metadata=told("the numbers, unrounded"))
    width: int = field(metadata=told("natural width of the wide drawing in pixels"))
    height: int = field(metadata=told("its natural height"))
    wide: str = field(metadata=told("address of the SVG, light"))
    wide_dark: str = field(metadata=told("address of the SVG, dark"))
    narrow: str = field(metadata=told("address of the SVG for phones, light"))
    narrow_dark: str = field(metadata=told("address of the SVG for phones, dark"))
    png: str = field(metadata=told("address of the PNG"))
    csv: str = field(metadata=told("address of the numbers as CSV"))
    spec: str = field(metadata=told("address of the Vega-Lite specification"))


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


def cohort_figure(cohort: Cohort) -> Figure | None:
    """The figure of a ranked group; None where no entry counts."""
    data = cohort_input(cohort)
    return _figure(partial(cohort_chart, data), _short(cohort.key))


def limit_figure(dossier: RunDossier) -> Figure | None:
    """The figure of a run's distance to its limit; None where no limit is known."""
    data = limit_input(dossier)
    return _figure(partial(limit_chart, data), _short(dossier.identity.run)) if data else None


def samples_figure(catalog: SeriesReads, dossier: RunDossier) -> Figure | None:
    """The figure of a controlled run's samples or rounds; None where there are none."""
    strips = find_generations(catalog, dossier.manifests["run"]["spec"])
    data = samples_input(dossier, strips)
    return _strips_figure(data, _short(dossier.identity.run)) if data else None


@lru_cache(maxsize=STRIPS_KEPT)
def _strips_figure(data: SamplesInput, subject: str) -> Figure | None:
    """Two drawings of thousands of dots take as long as the rest of a run's page."""
    return _figure(partial(samples_chart, data), subject)


def pair_figure(catalog: Reads, runs: Sequence[RunLine]) -> Figure | None:
    """The figure of two controlled runs over each other; None where one states no rounds."""
    data = pair_input(catalog, runs)
    subject = "/".join(_short(run.digest) for run in runs)
    return _figure(partial(ecdf_chart, data), subject) if data else None


def sweep_figure(axis: str, cohorts: Sequence[Cohort], through: str) -> Figure | None:
    """The figure of groups along an axis, through the cohort with key ``through``."""
    data = sweep_input(axis, cohorts)
    return _figure(partial(sweep_chart, data), f"{_short(through)}/{axis}") if data else None


def subject_figure(catalog: ChartReads, kind: Kind, subject: str) -> Figure | None:
    """The figure of any subject, with the reads that its chart needs."""
    return _figure(partial(_subject_chart, catalog, kind, subject), subject)


def _subject_chart(
    catalog: ChartReads, kind: Kind, subject: str, frame: Frame
) -> Chart | NotDrawn | None:
    return chart_of(catalog, kind, subject, frame)


def _figure(draw: Callable[[Frame], Chart | NotDrawn | None], subject: str) -> Figure | None:
    wide, narrow = draw(WIDE), draw(NARROW)
    if isinstance(wide, Chart) and isinstance(narrow, Chart):
        return figure_of(wide, narrow, subject)
    return None


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:KEY_DIGITS]
