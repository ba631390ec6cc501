"""Stored runs as lines of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.answer import Primary, Range, ShapeRef
from kernelindex.resolve.dossier import RecordLine, RunLine
from kernelindex.resolve.views import regime_of, view_doubt, view_implementation, view_spread
from kernelindex.resolve.withdrawn import shown_status

if TYPE_CHECKING:
    from kernelindex.catalog.rows import RecordRow, RunRow


def view_run_line(row: RunRow) -> RunLine:
    """A run in a list."""
    return RunLine(
        digest=row.digest,
        operation=row.operation,
        operation_title=row.operation_title,
        shape=view_shape(row),
        timed_pass=row.timed_pass,
        regime=regime_of(row),
        hardware=str(row.device.get("label") or row.device.get("product") or ""),
        implementation=view_implementation(row.implementation, row.line),
        revision=row.revision,
        primary=view_primary(row),
        interval=view_spread(row.interval, "confidence95"),
        rank=None if represented_by(row) else view_rank(row),
        evidence=row.evidence,
        status=shown_status(row),
        source=row.source,
        observed=row.observed.get("text"),
        doubts=tuple(map(view_doubt, row.doubts)),
    )


def view_shape(row: RunRow) -> ShapeRef:
    """The workload of a run."""
    return ShapeRef(
        key=row.shape_key, axes=row.axes, dtypes=row.dtypes, distribution=row.distribution
    )


def view_primary(row: RunRow) -> Primary | None:
    """The run's number; none where it has no primary measurement."""
    if row.value is None or row.metric is None or row.unit is None:
        return None
    statistic = row.statistic or "unspecified"
    return Primary(metric=row.metric, statistic=statistic, unit=row.unit, value=row.value)


def view_rank(row: RunRow) -> Range | None:
    """Rank range of the run's entry."""
    rank = row.rank or {}
    low, high = rank.get("low"), rank.get("high")
    return None if low is None or high is None else Range(low=low, high=high)


def represented_by(row: RunRow) -> str | None:
    """The run whose number stands for this one's entry, where it is another one."""
    chosen = (row.rank or {}).get("representative", row.digest)
    return None if chosen == row.digest else str(chosen)


def view_record(row: RecordRow) -> RecordLine:
    """A change of leader in a list."""
    return RecordLine(
        cohort=row.cohort_key,
        date=row.date,
        same_day=row.same_day,
        cause=row.cause,
        operation=row.operation,
        operation_title=row.operation_title,
        axes=row.axes,
        timed_pass=row.timed_pass,
        regime=regime_of(row),
        hardware=row.device,
        run=row.run_digest,
        leader_run=row.leader_run,
        leader=row.line["title"] if row.line else None,
        value=row.value,
        interval=view_spread(row.interval, "confidence95"),
        unit=row.unit,
        previous=row.previous_line["title"] if row.previous_line else None,
        previous_value=row.previous_value,
        ratio=row.ratio,
        current=row.current,
    )
