"""A sweep as a table: how far each line is from the best at every measured size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kernelindex.resolve.columns import show_ratios
from kernelindex.resolve.sweeps import read_sweep
from kernelindex.web import paths
from kernelindex.web.charts.adapters import LEAST_TOLERANCE, sweep_input
from kernelindex.web.charts.figure import Figure, sweep_figure
from kernelindex.web.charts.sweep_points import find_crossovers, ratios_of
from kernelindex.web.charts.words import path_name
from kernelindex.web.context import told
from kernelindex.web.show import value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import Cohort, Entry
    from kernelindex.resolve.sweeps import Sweep, SweepReads


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One line at one size."""

    ratio: str = field(metadata=told("times the best at this size; empty where nothing ran"))
    value: str = field(metadata=told("the measured value with its unit"))
    run: str = field(metadata=told("path of the run"))
    best: bool = field(metadata=told("whether it is the best at this size"))


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One line along the axis."""

    name: str = field(metadata=told("what ran"))
    cells: tuple[SweepCell | None, ...] = field(metadata=told("a cell for each size, in order"))

    @property
    def is_best(self) -> bool:
        """Whether it is the best at every size."""
        return all(cell is not None and cell.best for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepView:
    """One sweep, ready to print."""

    sweep: Sweep = field(metadata=told("axis, device, pass, and what is fixed"))
    regime: str = field(metadata=told("how all its groups were timed, in words"))
    rows: tuple[SweepRow, ...] = field(metadata=told("lines, the most often best first"))
    throughout: str = field(metadata=told("the line that is best at every size; empty if none"))
    crossovers: tuple[str, ...] = field(metadata=told("where the lead changes, in words"))
    figure: Figure | None = field(metadata=told("its chart, where there is something to draw"))


def build_sweep(catalog: SweepReads, sweep: Sweep) -> SweepView:
    """A sweep read from the catalog."""
    cohorts = read_sweep(catalog, sweep)
    rows = _rows(cohorts)
    return SweepView(
        sweep=sweep,
        regime=cohorts[0].regime if cohorts else "",
        rows=rows,
        throughout=next((row.name for row in rows if row.is_best), ""),
        crossovers=_crossovers(sweep.axis, cohorts),
        figure=sweep_figure(sweep.axis, cohorts, sweep.keys[0]),
    )


def _rows(cohorts: Sequence[Cohort]) -> tuple[SweepRow, ...]:
    """A row for each line; of several entries of a line the best placed one counts."""
    names: dict[str, str] = {}
    columns: list[dict[str, SweepCell]] = []
    for cohort in cohorts:
        first: dict[str, Entry] = {}
        for entry in cohort.entries:
            line = entry.implementation.line or entry.implementation.slug
            names.setdefault(line, entry.implementation.title)
            first.setdefault(line, entry)
        columns.append(dict(zip(first, _cells(cohort, list(first.values())), strict=False)))
    rows = {line: tuple(column.get(line) for column in columns) for line in names}
    ordered = sorted(rows, key=lambda line: -sum(bool(one and one.best) for one in rows[line]))
    return tuple(SweepRow(names[line], rows[line]) for line in ordered)


def _cells(cohort: Cohort, entries: Sequence[Entry]) -> list[SweepCell]:
    """The column of one size; none where the best is nothing to divide by."""
    best = entries[0].run.primary.value if entries else None
    if not best:
        return []
    ratios = [entry.run.primary.value / best for entry in entries]
    if cohort.metric.direction == "higher":
        ratios = [1 / ratio for ratio in ratios]
    return [
        SweepCell(
            ratio=ratio,
            value=value(entry.run.primary.value, entry.run.primary.unit),
            run=paths.run(entry.run.digest),
            best=entry.position == 1,
        )
        for entry, ratio in zip(entries, show_ratios(ratios), strict=True)
    ]


def _crossovers(axis: str, cohorts: Sequence[Cohort]) -> tuple[str, ...]:
    data = sweep_input(axis, cohorts)
    if data is None:
        return ()
    ran = [entry.implementation for cohort in cohorts for entry in cohort.entries]
    titles = {path_name(one): one.title for one in ran}
    lines = tuple(replace(line, name=titles.get(line.name, line.name)) for line in data.lines)
    ratios = ratios_of(data.lines, higher=data.direction == "higher")
    return tuple(one.words for one in find_crossovers(lines, ratios, LEAST_TOLERANCE))
