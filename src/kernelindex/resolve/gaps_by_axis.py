"""How a line's distance to the best other line depends on one axis, all else equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.dossier import Gap, GapPoint
from kernelindex.resolve.numbers import ratio_text
from kernelindex.resolve.wording import line_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernelindex.catalog.relative_reads import RelativeRow
    from kernelindex.catalog.rows import RunRow

MIN_POINTS = 2
MAX_SAID = 5


def view_gaps(run: RunRow, relatives: Sequence[RelativeRow]) -> tuple[Gap, ...]:
    """A gap for each axis on which this line and another were measured at two sizes or more."""
    gaps = []
    for axis, rows in sorted(_sweeps(run, relatives).items()):
        points = list(_points(run, rows, axis))
        if len(points) >= MIN_POINTS:
            gaps.append(Gap(axis=axis, points=tuple(points), text=_text(axis, points)))
    return tuple(gaps)


def _sweeps(run: RunRow, relatives: Sequence[RelativeRow]) -> dict[str, list[RelativeRow]]:
    """Cohorts timed as the run's own by the axis in which they differ; it is on every axis."""
    found: dict[str, list[RelativeRow]] = {}
    for row in relatives:
        if _timed_alike(run, row) and row.axes.keys() == run.axes.keys():
            axes = [name for name in run.axes if row.axes[name] != run.axes[name]]
            for name in axes or run.axes:
                found.setdefault(name, []).append(row)
    return found


def _timed_alike(run: RunRow, row: RelativeRow) -> bool:
    """Whether pass, source and the whole protocol, its load and gradients included, are equal."""
    own = (run.timed_pass, run.source, run.profile, run.protocol)
    return own == (row.timed_pass, row.source, row.profile, row.protocol)


def _points(run: RunRow, rows: Sequence[RelativeRow], axis: str) -> Iterator[GapPoint]:
    """One point a size in order; where several cohorts have a size, the run's own counts."""
    said: set[int] = set()
    for row in sorted(rows, key=lambda row: (row.axes[axis], row.key != run.cohort_key, row.key)):
        point = None if row.axes[axis] in said else _point(row, axis)
        if point is not None:
            said.add(point.value)
            yield point


def _point(row: RelativeRow, axis: str) -> GapPoint | None:
    own = row.own[0] if row.own else None
    other = row.other
    if own is None or other is None or not (own.value and other.value):
        return None
    ratio = own.value / other.value
    return GapPoint(
        value=row.axes[axis],
        ratio=1 / ratio if row.direction == "higher" else ratio,
        run=own.run_digest,
        against=line_name(other),
    )


def _text(axis: str, points: Sequence[GapPoint]) -> str:
    """``11.1x behind at experts=64``; the ends are always said."""
    said = points if len(points) <= MAX_SAID else (*points[: MAX_SAID - 1], points[-1])
    return ", ".join(f"{_gap_words(point.ratio)} at {axis}={point.value}" for point in said)


def _gap_words(ratio: float) -> str:
    if ratio >= 1:
        return f"{ratio_text(ratio)} behind"
    return f"{ratio_text(1 / ratio)} ahead"
