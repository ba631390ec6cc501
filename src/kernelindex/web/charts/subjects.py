"""Charts by what they are about, read from the catalog again when a file is asked for.

A subject is stable text: a cohort key or a run digest, whole or a prefix,
``<cohort key>/<axis>`` for a sweep, ``<run>/<run>`` for two runs over each other,
``<operation>/<product id>/<pass>`` for a roofline. It stands in a chart's address beside
the content hash, so that an address outlives the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kernelindex.errors import KernelIndexError
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.reads import Reads
from kernelindex.resolve.regime import Timing, differing_words
from kernelindex.resolve.run_lines import view_run_line
from kernelindex.resolve.show import show_run
from kernelindex.resolve.views import view_cohort, view_protocol
from kernelindex.web.charts.adapters import (
    cohort_input,
    ecdf_input,
    limit_input,
    records_input,
    roofline_input,
    samples_input,
    sweep_input,
)
from kernelindex.web.charts.chart import WIDE, Chart, Frame, Kind, NotDrawn
from kernelindex.web.charts.cohort import MAX_ENTRIES, cohort_chart
from kernelindex.web.charts.ecdf import ecdf_chart
from kernelindex.web.charts.limit_bar import limit_chart
from kernelindex.web.charts.roofline import roofline_chart
from kernelindex.web.charts.samples import samples_chart
from kernelindex.web.charts.series import SeriesReads, find_generations
from kernelindex.web.charts.staircase import records_chart
from kernelindex.web.charts.sweep import sweep_chart
from kernelindex.web.charts.words import setting_words, shape_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex.catalog.rows import CohortRow
    from kernelindex.resolve.answer import Cohort
    from kernelindex.resolve.dossier import RunLine
    from kernelindex.web.charts.ecdf import EcdfInput

SWEEP_COHORTS = 200
ROOF_COHORTS = 12
MAX_RECORDS = 100
MAX_SUBJECT = 400

Drawn = Chart | NotDrawn


class ChartReads(Reads, SeriesReads, Protocol):
    """What the catalog is asked for charts."""


def chart_of(catalog: ChartReads, kind: Kind, subject: str, frame: Frame = WIDE) -> Drawn | None:
    """The chart of a subject as the catalog is now; None where the subject names nothing."""
    build = _BUILDERS.get(kind)
    if build is None or len(subject) > MAX_SUBJECT:
        return None
    try:
        return build(catalog, subject, frame)
    except KernelIndexError:  # not found or ambiguous
        return None


def cohort_of(catalog: Reads, key: str, frame: Frame = WIDE) -> Drawn | None:
    """The cohort with this key."""
    row = catalog.cohort(key)
    if row is None:
        return None
    return cohort_chart(cohort_input(_views(catalog, [row])[0]), frame)


def limit_of(catalog: Reads, ident: str, frame: Frame = WIDE) -> Drawn | None:
    """The limit bar of a run."""
    data = limit_input(show_run(catalog, ident))
    return limit_chart(data, frame) if data else NotDrawn("limit", "This run has no latency.")


def samples_of(catalog: ChartReads, ident: str, frame: Frame = WIDE) -> Drawn | None:
    """The samples of a controlled run, or the medians of its rounds."""
    dossier = show_run(catalog, ident)
    strips = find_generations(catalog, dossier.manifests["run"]["spec"])
    data = samples_input(dossier, strips)
    return samples_chart(data, frame) if data else NotDrawn("samples", "This run states no rounds.")


def ecdf_of(catalog: Reads, subject: str, frame: Frame = WIDE) -> Drawn | None:
    """The round medians of two controlled runs over each other: ``<run>/<run>``."""
    digests = [locate(catalog, "run", ident).digest for ident in subject.split("/", 1)]
    rows = [row for digest in digests if (row := catalog.run(digest)) is not None]
    data = pair_input(catalog, tuple(map(view_run_line, rows)))
    return ecdf_chart(data, frame) if data else NotDrawn("ecdf", "Not both runs state rounds.")


def pair_input(catalog: Reads, runs: Sequence[RunLine]) -> EcdfInput | None:
    """Two runs with what their manifests say of rounds; None where one says nothing."""
    stored = catalog.documents([run.digest for run in runs])
    specs = [stored[run.digest]["spec"] for run in runs if run.digest in stored]
    rows = [row for run in runs if (row := catalog.run(run.digest)) is not None]
    if not len(runs) == len(specs) == len(rows) == 2:
        return None
    timed = [Timing(row.profile, view_protocol(row.protocol), row.timed_pass) for row in rows]
    return ecdf_input(runs, specs, differing_words(timed))


def sweep_of(catalog: Reads, subject: str, frame: Frame = WIDE) -> Drawn | None:
    """The sweep along an axis through a cohort: ``<cohort key>/<axis>``."""
    key, _, axis = subject.partition("/")
    row = catalog.cohort(key)
    if row is None or axis not in row.axes:
        return None
    rows = [
        other
        for other in catalog.cohorts(
            operation=row.operation,
            families=(row.device["family"],) if row.device.get("family") else (),
            passes=(row.timed_pass,),
            metric=row.metric,
            limit=SWEEP_COHORTS,
        )
        if _differs_only_in(axis, row, other)
    ]
    data = sweep_input(axis, _views(catalog, rows))
    return sweep_chart(data, frame) if data else None


def _differs_only_in(axis: str, row: CohortRow, other: CohortRow) -> bool:
    rest = {name: value for name, value in row.axes.items() if name != axis}
    return (
        {name: value for name, value in other.axes.items() if name != axis} == rest
        and axis in other.axes
        and all(
            getattr(row, name) == getattr(other, name)
            for name in ("dtypes", "distribution", "device", "protocol", "source", "correctness")
        )
    )


def records_of(catalog: Reads, key: str, frame: Frame = WIDE) -> Drawn | None:
    """The record history of the cohort with this key."""
    from kernelindex.resolve.run_lines import view_record

    row = catalog.cohort(key)
    if row is None:
        return None
    found = catalog.records({"cohort_key": row.key}, limit=MAX_RECORDS).rows
    cohort = _views(catalog, [row])[0]
    runs = {event.leader_run or "" for event in found} - {""}
    known = {digest: catalog.run(digest) for digest in runs}
    levels = {
        event.leader_run or "": known_run.evidence
        for event in found
        if (known_run := known.get(event.leader_run or "")) is not None
    }
    data = records_input(
        map(view_record, sorted(found, key=lambda event: event.ordinal)),
        levels=levels,
        source=row.source,
        metric=f"{row.metric}, {row.statistic}",
        setting=setting_words(shape_words(row.operation, cohort.shape), cohort.regime),
        until=row.newest_observed or "",
    )
    if data is None:
        return NotDrawn("records", "The leader of this group never changed.")
    return records_chart(data, frame)


def roofline_of(catalog: Reads, subject: str, frame: Frame = WIDE) -> Drawn | None:
    """The roofline of ``<operation>/<product id>/<pass>``."""
    operation, _, rest = subject.partition("/")
    product, _, timed_pass = rest.partition("/")
    if not (operation and product and timed_pass):
        return None
    rows = catalog.cohorts(
        operation=operation,
        product_ids=(product,),
        passes=(timed_pass,),
        metric="latency",
        limit=ROOF_COHORTS + 1,
    )
    shown = _views(catalog, rows[:ROOF_COHORTS])
    data = roofline_input(shown, more=len(rows) > ROOF_COHORTS) if rows else None
    if data is None:
        return NotDrawn("roofline", "No cost model and device with known peaks meet here.")
    return roofline_chart(data, frame)


def _views(catalog: Reads, rows: Sequence[CohortRow]) -> list[Cohort]:
    """Cohorts with the entries a chart can show."""
    entries = catalog.entries(tuple(row.key for row in rows), first=MAX_ENTRIES) if rows else {}
    return [view_cohort(row, entries.get(row.key, ()), limit=MAX_ENTRIES) for row in rows]


_BUILDERS: dict[Kind, Callable[[ChartReads, str, Frame], Drawn | None]] = {
    "cohort": cohort_of,
    "limit": limit_of,
    "samples": samples_of,
    "ecdf": ecdf_of,
    "sweep": sweep_of,
    "records": records_of,
    "roofline": roofline_of,
}
