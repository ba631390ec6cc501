"""Lists of runs and of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.doubts import inline_doubts
from kernelindex.cli.render.pairs import mapping_words
from kernelindex.cli.render.tables import Column, build_table
from kernelindex.cli.terminal import clean
from kernelindex.ids import is_digest, short
from kernelindex.resolve.columns import record_values, run_values, show_ratios
from kernelindex.resolve.compare_words import pair_numbers
from kernelindex.resolve.group_words import operation_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kernelindex.resolve.dossier import Comparison, RecordLine, RunLine, RunList

WIDE = 110


def print_run_list(console: Console, found: RunList) -> None:
    """A page of runs, and how many were left out."""
    if found.runs:
        print_run_lines(console, found.runs)
    else:
        console.print("No run meets every filter.")
    if found.left_out:
        said = ", ".join(f"{one.runs:,} {one.status}" for one in found.left_out)
        asked = " or ".join(f"--status {one}" for one in (found.left_out[0].status, "any"))
        console.print(f"\nleft out: {said}; listed by {asked}")


def print_run_lines(console: Console, runs: Sequence[RunLine]) -> None:
    """Runs as a table, each value in its own unit since they are not compared."""
    columns = (
        Column("run"),
        Column("rank"),
        Column("value", "right"),
        Column("what ran", flexible=True),
        Column("workload", flexible=True),
        Column("on", flexible=True),
        Column("level"),
        Column("doubts", flexible=True),
    )
    wide = console.width >= WIDE
    rows = [
        (
            short(run.digest),
            _rank(run) if wide else "",
            value,
            clean(run.implementation.title),
            clean(_workload(run)),
            clean(f"{run.hardware} {run.timed_pass}".replace(" unstated", "")),
            run.evidence if run.status == "passed" else clean(run.status),
            inline_doubts(run.doubts) if wide else "",
        )
        for run, value in zip(runs, run_values(runs), strict=True)
    ]
    console.print(build_table(columns, rows))


def print_records(console: Console, records: Sequence[RecordLine]) -> None:
    """Changes of leader, newest first."""
    if not records:
        console.print("No change of leader meets every filter.")
        return
    columns = (
        Column("date"),
        Column("run"),
        Column("leader, and the one before", flexible=True),
        Column("value", "right"),
        Column("by", "right"),
        Column("workload", flexible=True),
        Column("on", flexible=True),
        Column("cause", flexible=True),
    )
    wide = console.width >= WIDE
    by = show_ratios([record.ratio or None for record in records])
    told = zip(records, record_values(records), by, strict=True)
    rows = [_record(record, value, ratio, wide=wide) for record, value, ratio in told]
    console.print(build_table(columns, rows))
    if any(record.same_day for record in records):
        console.print("* several that day; their order is not known", style="dim")


def print_comparison(console: Console, comparison: Comparison) -> None:
    """The sentence, then what differs, then what is equal."""
    console.print(clean(comparison.summary), style="bold")
    told = zip(comparison.verdicts, pair_numbers(comparison.verdicts), strict=True)
    for pair, numbers in told:
        if numbers:
            console.print(f"{short(pair.run)} against {short(pair.against)}: {numbers.text}")
    console.print()
    names = [short(run.digest) for run in comparison.runs]
    columns = (
        Column("differs", flexible=True),
        *(Column(name, flexible=True) for name in names),
    )
    differing = [field for field in comparison.fields if not field.same]
    rows = [(field.name, *(_compared(value) for value in field.values)) for field in differing]
    if rows:
        console.print(build_table(columns, rows))
    equal = [f for f in comparison.fields if f.same and f.values[0]]
    console.print(f"\nequal: {', '.join(field.name for field in equal)}", style="dim")


def _record(record: RecordLine, value: str, ratio: str, *, wide: bool) -> tuple[str, ...]:
    leader = clean(record.leader or "several, none beaten")
    workload = operation_words(record.operation, record.operation_title)
    return (
        f"{record.date or 'undated'}{'*' if record.same_day else ''}",
        short(record.leader_run or record.run),
        f"{leader}\n  {clean(record.previous)}" if record.previous else leader,
        value,
        ratio,
        clean(f"{workload} {mapping_words(record.axes)}"),
        clean(_place(record)),
        clean(record.cause.replace("_", " ")) if wide else "",
    )


def _place(record: RecordLine) -> str:
    timed = "" if record.timed_pass == "unstated" else f" {record.timed_pass}"
    return f"{record.hardware}{timed}" + (f", {record.regime}" if record.regime else "")


def _rank(run: RunLine) -> str:
    if run.rank is None:
        return ""
    low, high = run.rank.low, run.rank.high
    return str(low) if low == high else f"{low}-{high}"


def _workload(run: RunLine) -> str:
    name = operation_words(run.operation, run.operation_title)
    return f"{name} {mapping_words(run.shape.axes)}"


def _compared(value: str | None) -> str:
    if value is None:
        return "not stated"
    return short(value) if is_digest(value) else clean(value)
