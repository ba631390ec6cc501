"""A cohort as a table: one row grammar for every surface of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.tables import Column, align_decimal, build_table
from kernelindex.cli.terminal import clean
from kernelindex.resolve.numbers import scale_for
from kernelindex.resolve.row_words import (
    cells_of,
    inline_doubts,
    is_memory_bound,
    least_ns,
    own_doubts,
    path_words,
    rank_words,
    setting_words,
    shared_words,
    unmet_words,
)

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
        console.print(f"all rows: {clean(shared_words(cohort))}", style="dim")
    shown = cohort.entries[:limit]
    wide = console.width >= WIDE
    console.print(entry_table(cohort, shown, wide=wide))
    if not wide:
        _print_doubts_below(console, cohort, shown)
    left = len(cohort.entries) - len(shown) + cohort.entries_left_out
    if left > 0:
        console.print(f"and {left} more behind these", style="dim")
    if cohort.entries_not_met:
        console.print(unmet_words(cohort), style="dim")


def cohort_title(cohort: Cohort) -> str:
    """What is equal in all rows: device, pass, protocol, metric."""
    return " · ".join(map(clean, setting_words(cohort)))


def entry_table(cohort: Cohort, entries: Sequence[Entry], *, wide: bool) -> Table:
    """The first rows of a cohort; a narrow terminal gets memory and doubts elsewhere.

    Numbers have the digits that they have among all rows, as on the page.
    """
    scale = scale_for([entry.run.primary.value for entry in cohort.entries], cohort.metric.unit)
    by_memory = is_memory_bound(cohort.entries)
    columns = (
        Column("rank"),
        Column("what ran", flexible=True),
        Column(scale.unit or cohort.metric.metric, "right"),
        Column("95 % interval"),
        Column("ratio", "right"),
        Column("TB/s" if by_memory else "TFLOP/s", "right"),
        Column("% nominal", "right"),
        Column("% attainable", "right"),
        Column("memory", "right"),
        Column("level"),
        Column("doubts", flexible=True),
    )
    numbers = cells_of(cohort.entries, scale)
    cells = (
        [rank_words(entry, entries) for entry in entries],
        [" · ".join(map(clean, path_words(e.implementation, e.revision))) for e in entries],
        align_decimal(numbers.values),
        numbers.intervals,
        align_decimal(numbers.ratios),
        align_decimal(numbers.rates),
        align_decimal(numbers.nominal),
        align_decimal(numbers.attainable),
        numbers.memory if wide else ["" for _ in entries],
        [entry.evidence for entry in entries],
        _doubts(cohort, entries) if wide else ["" for _ in entries],
    )
    return build_table(columns, list(zip(*cells, strict=False)))


def _print_doubts_below(console: Console, cohort: Cohort, entries: Sequence[Entry]) -> None:
    ranks = [rank_words(entry, entries) for entry in entries]
    for rank, words in zip(ranks, _doubts(cohort, entries), strict=True):
        if words:
            console.print(f"  doubts of {rank}: {words}", style="dim")


def _doubts(cohort: Cohort, entries: Sequence[Entry]) -> list[str]:
    """The doubts of each row that are not said once for all rows."""
    least = least_ns(cohort)
    return [clean("; ".join(inline_doubts(own_doubts(cohort, e), least))) for e in entries]
