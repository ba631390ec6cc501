"""A cohort as a table: one row grammar for every surface of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.doubts import doubt_words, inline_doubts
from kernelindex.cli.render.tables import Column, align_decimal, build_table
from kernelindex.cli.terminal import clean
from kernelindex.resolve.numbers import memory_text, ratio_text, scale_for, significant
from kernelindex.resolve.wording import short_revision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from kernelindex.resolve.answer import Cohort, Entry

WIDE = 110
BEST_SHOWN = 10


def print_cohort(
    console: Console, cohort: Cohort, *, limit: int = BEST_SHOWN, words: str = ""
) -> None:
    """The group's setting, what all rows share, then its rows in stored order.

    ``words`` say what sets it apart from the other groups of the answer.
    """
    console.print(" · ".join(filter(None, [cohort_title(cohort), clean(words)])), style="bold")
    if cohort.shared_doubts and cohort.entry_count > 1:
        console.print(f"all rows: {shared_words(cohort)}", style="dim")
    shown = cohort.entries[:limit]
    wide = console.width >= WIDE
    console.print(entry_table(cohort, shown, wide=wide))
    if not wide:
        _print_doubts_below(console, cohort, shown)
    left = cohort.entry_count - len(shown)
    if left > 0:
        console.print(f"and {left} more behind these", style="dim")


def shared_words(cohort: Cohort) -> str:
    """What all rows are doubted for; a shift of one size cancels in no ratio."""
    least = _least_ns(cohort)
    words = [doubt_words(doubt, least) for doubt in cohort.shared_doubts]
    longer = sum(doubt.shift_ns or 0.0 for doubt in cohort.shared_doubts)
    if longer > 0 and cohort.entry_count > 1:
        words.append("the same extra time in all rows, so ratios are understated")
    return "; ".join(words)


def cohort_title(cohort: Cohort) -> str:
    """What is equal in all rows: device, pass, protocol, metric."""
    metric = cohort.metric
    timed = "pass not stated" if cohort.timed_pass == "unstated" else cohort.timed_pass
    version = cohort.protocol.version if cohort.profile == "controlled" else ""
    what = f"{metric.statistic} {metric.metric}"
    parts = (cohort.hardware.label, timed, cohort.protocol.name, version, what)
    return " · ".join(clean(part) for part in parts if part)


def entry_table(cohort: Cohort, entries: Sequence[Entry], *, wide: bool) -> Table:
    """Rows of a cohort; a narrow terminal gets memory and doubts elsewhere."""
    scale = scale_for([entry.run.primary.value for entry in entries], cohort.metric.unit)
    doubts = _own_doubts(cohort, entries)
    by_memory = _memory_bound(entries)
    columns = (
        Column("rank"),
        Column("what ran", flexible=True),
        Column(scale.unit or cohort.metric.metric, "right"),
        Column("ratio", "right"),
        Column("TB/s" if by_memory else "TFLOP/s", "right"),
        Column("% nominal", "right"),
        Column("% attainable", "right"),
        Column("memory", "right"),
        Column("level"),
        Column("doubts", flexible=True),
    )
    cells = (
        _ranks(entries),
        [_name(entry) for entry in entries],
        align_decimal([scale.show(e.run.primary.value, _half_width(e)) for e in entries]),
        align_decimal([_ratio(entry) for entry in entries]),
        align_decimal([_rate(entry, by_memory=by_memory) for entry in entries]),
        align_decimal([_percent(e.limit.percent_nominal if e.limit else None) for e in entries]),
        align_decimal([_percent(e.limit.percent_attainable if e.limit else None) for e in entries]),
        [_memory(entry) if wide else "" for entry in entries],
        [entry.evidence for entry in entries],
        doubts if wide else ["" for _ in entries],
    )
    return build_table(columns, list(zip(*cells, strict=True)))


def _print_doubts_below(console: Console, cohort: Cohort, entries: Sequence[Entry]) -> None:
    doubts = _own_doubts(cohort, entries)
    for rank, words in zip(_ranks(entries), doubts, strict=True):
        if words:
            console.print(f"  doubts of {rank}: {words}", style="dim")


def _own_doubts(cohort: Cohort, entries: Sequence[Entry]) -> list[str]:
    """The doubts of each row that are not said once for all rows."""
    shared = [doubt.code for doubt in cohort.shared_doubts] if cohort.entry_count > 1 else []
    return [inline_doubts(entry.doubts, shared, _least_ns(cohort)) for entry in entries]


def _least_ns(cohort: Cohort) -> float | None:
    """The value that sets the group's unit, where it is a time in ns."""
    if cohort.metric.unit != "ns":
        return None
    return min((entry.run.primary.value for entry in cohort.entries), default=None)


def _ranks(entries: Sequence[Entry]) -> list[str]:
    """``1``, ``1=`` for a tie, ``1-3`` where it is not resolved, ``only`` for an only result."""
    return [_rank(entry, entries) for entry in entries]


def _rank(entry: Entry, entries: Sequence[Entry]) -> str:
    if entry.rank is None:
        return "only result"
    tied = [e for e in entries if e.tie_group is not None and e.tie_group == entry.tie_group]
    if len(tied) > 1:
        return f"{entry.rank.low}="
    if entry.rank.low == entry.rank.high:
        return str(entry.rank.low)
    return f"{entry.rank.low}-{entry.rank.high}"


def _name(entry: Entry) -> str:
    """``project · path · version``; a copy is said to be one."""
    ran = entry.implementation
    parts = [ran.title]
    if ran.entry_point and not _repeats(ran.entry_point, ran.title):
        parts.append(ran.entry_point)
    if entry.revision and entry.revision != "unstated":
        parts.append(short_revision(entry.revision))
    return " · ".join(clean(part) for part in parts if part)


def _repeats(entry_point: str, title: str) -> bool:
    one, other = entry_point.casefold(), title.casefold()
    return one in other or other in one


def _half_width(entry: Entry) -> float | None:
    interval = entry.run.interval
    return (interval.high - interval.low) / 2 if interval else None


def _ratio(entry: Entry) -> str:
    ratio = entry.ratio_to_leader
    if ratio is None:
        return ""
    return "1x" if ratio == 1 else ratio_text(ratio)


def _memory_bound(entries: Sequence[Entry]) -> bool:
    bounds = [entry.limit.bound for entry in entries if entry.limit and entry.limit.bound]
    return bounds.count("memory") * 2 > len(bounds)


def _rate(entry: Entry, *, by_memory: bool) -> str:
    if entry.limit is None:
        return ""
    value = entry.limit.tbps if by_memory else entry.limit.tflops
    return "" if value is None else significant(value)


def _percent(value: float | None) -> str:
    return "" if value is None else significant(value, 2)


def _memory(entry: Entry) -> str:
    return memory_text(entry.peak_memory_bytes) if entry.peak_memory_bytes else ""
