"""A measured batch as tables: one for each point, pass and regime, best first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kernelindex.cli.render.tables import Column, align_decimal, build_table
from kernelindex.cli.terminal import clean
from kernelindex.policy.verdicts import REASONS, VerdictKind
from kernelindex.resolve.columns import (
    scaled,
    show_column,
    show_intervals,
    show_ratios,
    show_sizes,
)
from kernelindex.resolve.numbers import scale_for
from kernelindex.runner.plan import GRADIENT_PASSES
from kernelindex.runner.surroundings import UNSETTLED, read_surroundings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from kernelindex.policy.judging import ExcludedRun, JudgedEntry
    from kernelindex.policy.verdicts import Verdict
    from kernelindex.runner.recording import Batch
    from kernelindex.runner.standings import Judged


MOST_OF_TEXT = 300
PACKAGE_MISSING = "package_missing"
_TO_INSTALL = re.compile(r"; install (?!it\b)(\S+) to measure")
_NOT_FOUND = re.compile(r"No module named '([^'.]+)")


def print_judged(console: Console, judged: Sequence[Judged]) -> None:
    """Every cohort of a batch with who did not pass below it."""
    for one in judged:
        console.print(f"\n{clean(title_of(one))}", style="bold")
        entries = one.cohort.entries
        if entries:
            console.print(_table(one, entries))
            _print_doubts(console, entries)
        for row in entries:
            _print_settle(console, row)
        for lost in one.cohort.excluded:
            console.print(clean(lost_words(one, lost)))


def busy_words(batch: Batch, judged: Sequence[Judged]) -> list[str]:
    """What else ran, where something was not settled while it did."""
    machine = read_surroundings(batch)
    excluded = [lost.run.status for one in judged for lost in one.cohort.excluded]
    verdicts = [row.to_leader for one in judged for row in one.cohort.entries]
    open_ones = [one for one in verdicts if one is not None and one.kind is VerdictKind.UNCLEAR]
    if not machine.busy or not (open_ones or UNSETTLED & set(excluded)):
        return []
    steadier = "" if machine.threads == "1" else ", or with OMP_NUM_THREADS=1"
    return [f"the machine was busy: {machine.text}; run it again when less runs{steadier}"]


def title_of(one: Judged) -> str:
    """Operation, shape, pass and regime: what is equal in all rows."""
    series = one.first.series
    point, regime = series.point, series.regime
    sizes = " ".join(f"{name}={value}" for name, value in point.axes.items())
    dtype = next(iter(point.dtypes.values()), "")
    weights = [f"{point.gradients} weights"] if regime.timed_pass in GRADIENT_PASSES else []
    parts = [point.operation, sizes, dtype, point.distribution or "", regime.timed_pass]
    return " · ".join(filter(None, [*parts, regime.cache, regime.load, *weights]))


def _table(one: Judged, entries: Sequence[JudgedEntry]) -> Any:
    scale = scale_for([row.entry.value for row in entries], "ns")
    columns = (
        Column("rank"),
        Column("candidate", flexible=True),
        Column(scale.unit, "right"),
        Column("95 % interval"),
        Column("ratio", "right"),
        Column("verdict"),
        Column("ratio's interval"),
        Column("% of limit", "right"),
        Column("peak", "right"),
    )
    numbers = [scaled(scale, row.entry.value, _ends(row)) for row in entries]
    cells = (
        [rank_words(row) for row in entries],
        [clean(row.run.line.title) for row in entries],
        align_decimal(show_column(numbers)),
        [text or "none" for text in show_intervals(numbers)],
        align_decimal(show_ratios([row.ranked.ratio_to_leader for row in entries])),
        [str(row.to_leader.kind) if row.to_leader else "" for row in entries],
        [ratio_interval(row.to_leader) for row in entries],
        [_limit(row) for row in entries],
        show_sizes([_peak(one, row) for row in entries]),
    )
    return build_table(columns, list(zip(*cells, strict=True)))


def rank_words(row: JudgedEntry) -> str:
    """The rank range, or that it is the only result."""
    low, high = row.ranked.low, row.ranked.high
    if low is None:
        return "only"
    return str(low) if low == high else f"{low}-{high}"


def ratio_interval(verdict: Verdict | None) -> str:
    """The 95 % interval of the ratio to the leader, and the margin that counts as none."""
    if verdict is None or verdict.low is None or verdict.high is None:
        return ""
    margin = f" ±{verdict.margin:.1%}" if verdict.margin is not None else ""
    return f"{verdict.low:.3f}-{verdict.high:.3f}{margin}"


def verdict_words(verdict: Verdict) -> str:
    """A verdict with its ratio, interval, margin and reasons in words."""
    parts = [str(verdict.kind)]
    if verdict.ratio is not None:
        parts.append(f"ratio {verdict.ratio:.4g}")
    if verdict.low is not None and verdict.high is not None:
        parts.append(f"95 % interval {verdict.low:.4g} to {verdict.high:.4g}")
    if verdict.margin is not None:
        parts.append(f"margin {verdict.margin:.2%}")
    reasons = "; ".join(REASONS.get(code, code) for code in verdict.reasons)
    settle = f"; to settle: {verdict.settle.text}" if verdict.settle else ""
    return f"{', '.join(parts)} ({reasons}{settle})"


def ended_words(status: str, reason: str) -> str:
    """How somebody ended; who lacks a package here made no error."""
    return "cannot run here" if reason == PACKAGE_MISSING else status.replace("_", " ")


def why_words(reason: str, text: str) -> str:
    """Why, at a length that is read; a reason that its text repeats is said once."""
    if reason == PACKAGE_MISSING:
        named = _TO_INSTALL.search(text) or _NOT_FOUND.search(text)
        return f"package {named[1]} is missing" if named else shorten(text)
    code = reason.replace("_", " ")
    return (
        shorten(text) if text.startswith(code) else shorten(": ".join(filter(None, [code, text])))
    )


def shorten(text: str) -> str:
    """What is shown of a text that a candidate may have made as long as it likes; JSON has more."""
    return text if len(text) <= MOST_OF_TEXT else f"{text[: MOST_OF_TEXT - 1].rstrip()}…"


def lost_words(one: Judged, lost: ExcludedRun) -> str:
    """Who does not rank, how it ended, and why, in a line."""
    series = one.runs[lost.run.digest].series
    why = why_words(series.reason, str(series.found.get("text") or ""))
    if series.status == "passed":
        why = "; ".join(reason.text for reason in lost.reasons)
    primary = lost.run.primary
    median = (
        f"median {scale_for([primary.value], 'ns').with_unit(primary.value)}" if primary else ""
    )
    parts = [ended_words(series.status, series.reason), median, why]
    return f"{lost.run.line.title}: {', '.join(filter(None, parts))}"


def _print_doubts(console: Console, entries: Sequence[JudgedEntry]) -> None:
    """What all rows share once, then what each has of its own."""
    shared = set.intersection(*({doubt.code for doubt in row.doubts} for row in entries))
    if shared:
        console.print(f"all rows: {_codes(shared)}", style="dim")
    for row in entries:
        own = [doubt.code for doubt in row.doubts if doubt.code not in shared]
        if own:
            console.print(f"doubts of {rank_words(row)}: {_codes(own)}", style="dim")


def _codes(codes: Iterable[str]) -> str:
    return clean("; ".join(sorted(code.replace("_", " ").lower() for code in codes)))


def _print_settle(console: Console, row: JudgedEntry) -> None:
    verdict = row.to_leader
    if verdict is not None and verdict.settle is not None:
        name = clean(row.run.line.title)
        console.print(f"  {name} against the first: {verdict.settle.text}", style="dim")


def _ends(row: JudgedEntry) -> tuple[float, float] | None:
    interval = row.run.interval
    return None if interval is None else (interval.low, interval.high)


def _limit(row: JudgedEntry) -> str:
    percent = row.limit.percent_nominal if row.limit else None
    return "" if percent is None else f"{percent:.0f}"


def _peak(one: Judged, row: JudgedEntry) -> int | None:
    spec = one.runs[row.run.digest].run.document["spec"]
    peak: int | None = spec.get("memory", {}).get("peakBytes")
    return peak
