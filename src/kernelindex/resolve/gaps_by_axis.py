"""How a line's distance to the best other line depends on one axis, all else equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.dossier import Gap, GapPoint
from kernelindex.resolve.numbers import ratio_text
from kernelindex.resolve.wording import line_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow

MIN_POINTS = 2
MAX_SAID = 5


def sweep_rows(run: RunRow, rows: Iterable[CohortRow]) -> dict[str, list[CohortRow]]:
    """Cohorts of the same setting by the one axis in which they differ from the run."""
    found: dict[str, list[CohortRow]] = {}
    for row in rows:
        if _same_setting(run, row):
            axes = [name for name in run.axes if row.axes[name] != run.axes[name]]
            for name in axes if len(axes) == 1 else run.axes if not axes else ():
                found.setdefault(name, []).append(row)
    return {axis: group for axis, group in found.items() if len(group) >= MIN_POINTS}


def view_gaps(
    run: RunRow,
    sweeps: Mapping[str, Sequence[CohortRow]],
    entries: Mapping[str, Sequence[EntryRow]],
) -> tuple[Gap, ...]:
    """A gap for each axis on which this line and another were measured at two sizes or more."""
    gaps = []
    for axis, rows in sorted(sweeps.items()):
        points = [
            point
            for row in sorted(rows, key=lambda row: row.axes[axis])
            if (point := _point(run, row, axis, entries.get(row.key, ())))
        ]
        if len(points) >= MIN_POINTS:
            gaps.append(Gap(axis=axis, points=tuple(points), text=_text(axis, points)))
    return tuple(gaps)


def _same_setting(run: RunRow, row: CohortRow) -> bool:
    return (
        row.axes.keys() == run.axes.keys()
        and row.dtypes == run.dtypes
        and row.timed_pass == run.timed_pass
        and row.metric == run.metric
        and row.device == run.device
        and row.protocol.get("name") == run.protocol.get("name")
    )


def _point(run: RunRow, row: CohortRow, axis: str, entries: Sequence[EntryRow]) -> GapPoint | None:
    own = next((one for one in entries if one.line["id"] == run.line["id"]), None)
    other = next((one for one in entries if one.line["id"] != run.line["id"]), None)
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
