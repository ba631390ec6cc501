"""A cohort as rows: the one grammar of entry, value, interval, ratio, limit, level, doubts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.resolve.columns import show_digits
from kernelindex.resolve.numbers import scale_for
from kernelindex.resolve.row_words import (
    PERCENT_DIGITS,
    cells_of,
    half_width,
    inline_doubts,
    is_memory_bound,
    least_ns,
    own_doubts,
    path_words,
    rank_words,
    shared_words,
    unmet_words,
)
from kernelindex.web import paths
from kernelindex.web.charts.words import rest_words
from kernelindex.web.context import told
from kernelindex.web.show import align, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from kernelindex.resolve.answer import Cohort, Entry
    from kernelindex.resolve.numbers import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry as cells, ready to print."""

    rank: str = field(metadata=told("rank or range, with = for a tie"))
    tied: bool = field(metadata=told("whether it shares its tie with another row"))
    first: bool = field(metadata=told("whether no other entry is surely better"))
    this: bool = field(metadata=told("whether it is the run that the page is about"))
    title: str = field(metadata=told("what ran"))
    href: str = field(metadata=told("path of the implementation's page"))
    path: str = field(metadata=told("path and version below the title"))
    run: str = field(metadata=told("path of the run's page"))
    value: Markup = field(metadata=told("the value in the table's unit, padded to align"))
    exact: str = field(metadata=told("the unrounded value with its stored unit"))
    interval: Markup = field(
        metadata=told("half width of the 95 % interval in percent, where known")
    )
    ratio: Markup = field(metadata=told("value over the leader's"))
    rate: Markup = field(metadata=told("achieved rate in the table's rate unit"))
    nominal: Markup = field(metadata=told("percent of the nominal peak"))
    attainable: Markup = field(metadata=told("percent of the attainable peak"))
    memory: str = field(metadata=told("peak memory of the same case, where measured"))
    level: str = field(metadata=told("evidence level"))
    doubts: tuple[str, ...] = field(
        metadata=told("doubts that not every row has, at most two and a count")
    )
    stack: str = field(metadata=told("software versions, where stated"))
    why_not: str = field(metadata=told("what keeps it from being deployable"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A table of entries and which of its columns say anything."""

    unit: str = field(metadata=told("unit of every value"))
    rate_unit: str = field(metadata=told("unit of the rate: TFLOP/s, or TB/s where memory binds"))
    shared: str = field(metadata=told("the doubts that every row has, said once"))
    rows: tuple[Row, ...] = field(metadata=told("entries in rank order"))
    rest: str = field(metadata=told("how many more entries there are, and where they stand"))
    has_interval: bool = field(metadata=told("whether any row has an interval"))
    has_rate: bool = field(metadata=told("whether any row has a rate"))
    has_attainable: bool = field(metadata=told("whether any row knows the attainable peak"))
    has_memory: bool = field(metadata=told("whether any row has its memory measured"))
    ranked: bool = field(metadata=told("whether there is anything to rank"))


def build_rows(cohort: Cohort, *, this_run: str | None = None, most: int = 50) -> Rows:
    """The first ``most`` entries of a cohort as a table; ``this_run`` is marked."""
    entries = cohort.entries[:most]
    scale = scale_for([entry.run.primary.value for entry in entries], cohort.metric.unit)
    columns = _columns(entries, scale)
    rows = tuple(
        _row(cohort, entry, entries, dict(zip(_NUMBERS, cells, strict=True)), this_run)
        for entry, cells in zip(entries, zip(*columns, strict=True), strict=True)
    )
    return Rows(
        unit=scale.unit or cohort.metric.metric,
        rate_unit="TB/s" if is_memory_bound(entries) else "TFLOP/s",
        shared=shared_words(cohort) if cohort.entry_count > 1 else "",
        rows=rows,
        rest=_rest(cohort, rows),
        has_interval=any(row.interval for row in rows),
        has_rate=any(row.rate for row in rows),
        has_attainable=any(row.attainable for row in rows),
        has_memory=any(row.memory for row in rows),
        ranked=not cohort.only_result,
    )


def _rest(cohort: Cohort, rows: Sequence[Row]) -> str:
    """Who is not shown: those beyond the rows, and those that a question left out."""
    left_out = len(cohort.entries) - len(rows) + cohort.entries_left_out
    if cohort.entries_not_met:
        more = [f"and {left_out:,} more that meet them"] if left_out > 0 else []
        return "; ".join([*more, unmet_words(cohort)])
    unbeaten = len(cohort.unbeaten) - sum(row.first for row in rows)
    return rest_words(left_out, max(0, unbeaten)) if left_out > 0 else ""


_NUMBERS = ("value", "interval", "ratio", "rate", "nominal", "attainable", "memory")


def _columns(entries: Sequence[Entry], scale: Scale) -> list[Sequence[str]]:
    """The numeric columns, all but memory aligned on their decimal points."""
    cells = cells_of(entries, scale)
    halves = show_digits([_half_percent(entry) for entry in entries], PERCENT_DIGITS)
    aligned = (
        cells.values,
        [f"±{text}" if text else "" for text in halves],
        cells.ratios,
        cells.rates,
        cells.nominal,
        cells.attainable,
    )
    return [*map(align, aligned), cells.memory]


def _row(
    cohort: Cohort,
    entry: Entry,
    entries: Sequence[Entry],
    cells: dict[str, Any],
    this_run: str | None,
) -> Row:
    title, *rest = path_words(entry.implementation, entry.revision)
    rank = rank_words(entry, entries)
    primary = entry.run.primary
    return Row(
        rank=rank,
        tied=rank.endswith("="),
        first=entry.rank is not None and entry.rank.low == 1,
        this=this_run is not None and this_run in (entry.run.digest, *entry.other_runs),
        title=title,
        href=paths.implementation(entry.implementation.slug),
        path=" · ".join(_with_project(entry, title, rest)),
        run=paths.run(entry.run.digest),
        exact=exact(primary.value, primary.unit),
        level=entry.evidence,
        doubts=inline_doubts(own_doubts(cohort, entry), least_ns(cohort)),
        stack=", ".join(f"{name} {version}" for name, version in entry.stack.items()),
        why_not="; ".join(entry.why_not),
        **cells,
    )


def _with_project(entry: Entry, title: str, rest: list[str]) -> list[str]:
    """``project · path · version``: a code path is not named by its title alone."""
    project = entry.implementation.project
    return rest if not project or project.casefold() == title.casefold() else [project, *rest]


def _half_percent(entry: Entry) -> float | None:
    """Half of the interval in percent of the value."""
    half, value = half_width(entry), entry.run.primary.value
    return 100 * half / value if half and value else None
