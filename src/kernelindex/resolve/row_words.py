"""The cells of a row of a cohort in words: the one grammar of every surface.

Nothing here is escaped or coloured; a terminal and a page each make it safe their own way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.answer import LimitRef
from kernelindex.resolve.columns import (
    ends_of,
    scaled,
    show_column,
    show_digits,
    show_intervals,
    show_ratios,
    show_sizes,
)
from kernelindex.resolve.numbers import half_of, signed_time
from kernelindex.resolve.regime import regime_parts
from kernelindex.resolve.wording import rank_span, short_revision

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.resolve.answer import (
        Cohort,
        CohortHead,
        DoubtRef,
        Entry,
        ImplementationRef,
        Range,
    )
    from kernelindex.resolve.numbers import Scale

INLINE_DOUBTS = 2
PERCENT_DIGITS = 2


def setting_words(cohort: CohortHead) -> tuple[str, ...]:
    """What is equal in all rows of a cohort: device, pass, protocol, version, metric."""
    metric = cohort.metric
    timed = "pass not stated" if cohort.timed_pass == "unstated" else cohort.timed_pass
    what = f"{metric.statistic} {metric.metric}"
    regime = regime_parts(cohort.profile, cohort.protocol)
    return tuple(part for part in (cohort.hardware.label, timed, *regime, what) if part)


def rank_words(entry: Entry, entries: Sequence[Entry]) -> str:
    """``1``, ``1=`` for a tie, ``1-3`` where it is not resolved, ``only result`` alone."""
    if entry.rank is None:
        return "only result"
    tied = [e for e in entries if e.tie_group is not None and e.tie_group == entry.tie_group]
    return f"{entry.rank.low}=" if len(tied) > 1 else range_words(entry.rank)


def range_words(rank: Range) -> str:
    """``2``, or ``1-3`` where it is not resolved."""
    return rank_span(rank.low, rank.high)


def unmet_words(cohort: Cohort) -> str:
    """How many entries a question's conditions leave out, and what ranks are among."""
    if not cohort.entries_not_met:
        return ""
    count = cohort.entries_not_met
    verb = "does" if count == 1 else "do"
    return (
        f"{count:,} more {verb} not meet the conditions asked for;"
        f" ranks and ratios are among all {cohort.entry_count:,}"
    )


def path_words(ran: ImplementationRef, revision: str) -> tuple[str, ...]:
    """What ran as title, path and version, each once; an unstated version is left out."""
    parts = [ran.title]
    if ran.entry_point and not _repeats(ran.entry_point, ran.title):
        parts.append(ran.entry_point)
    if revision and revision != "unstated":
        parts.append(short_revision(revision))
    return tuple(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Cells:
    """The numbers of some rows of a cohort, column by column; empty where there is none."""

    values: list[str]
    intervals: list[str]
    ratios: list[str]
    rates: list[str]
    nominal: list[str]
    attainable: list[str]
    memory: list[str]


def cells_of(entries: Sequence[Entry], scale: Scale) -> Cells:
    """The columns of a table in its unit; rates are TB/s where memory binds, else TFLOP/s."""
    numbers = [scaled(scale, one.run.primary.value, ends_of(one.run.interval)) for one in entries]
    limits = [one.limit or LimitRef() for one in entries]
    by_memory = is_memory_bound(entries)
    return Cells(
        values=show_column(numbers),
        intervals=show_intervals(numbers),
        ratios=show_ratios([one.ratio_to_leader for one in entries]),
        rates=show_digits([one.tbps if by_memory else one.tflops for one in limits]),
        nominal=show_digits([one.percent_nominal for one in limits], PERCENT_DIGITS),
        attainable=show_digits([one.percent_attainable for one in limits], PERCENT_DIGITS),
        memory=show_sizes([one.peak_memory_bytes for one in entries]),
    )


def is_memory_bound(entries: Sequence[Entry]) -> bool:
    """Whether most of the entries are bound by memory."""
    bounds = [entry.limit.bound for entry in entries if entry.limit and entry.limit.bound]
    return bounds.count("memory") * 2 > len(bounds)


def half_width(entry: Entry) -> float | None:
    """Half of the entry's 95 % interval, in the stored unit."""
    return half_of(entry.run.interval)


def doubt_words(doubt: DoubtRef, beside_ns: float | None = None) -> str:
    """A doubt in a few words, with its size and sign where known.

    ``beside_ns`` is the value it stands beside: the size is then in the same unit.
    """
    words = doubt.code.replace("_", " ").lower()
    if doubt.shift_ns:
        return f"{words}: about {signed_time(doubt.shift_ns, beside_ns)}"
    return words


def own_doubts(cohort: Cohort, entry: Entry) -> tuple[DoubtRef, ...]:
    """The doubts of a row that are not said once for all rows."""
    if cohort.entry_count <= 1:
        return entry.doubts
    said = {doubt.code for doubt in cohort.shared_doubts}
    return tuple(doubt for doubt in entry.doubts if doubt.code not in said)


def inline_doubts(doubts: Iterable[DoubtRef], beside_ns: float | None = None) -> tuple[str, ...]:
    """The two weightiest doubts, and how many more there are."""
    found = list(doubts)
    words = [doubt_words(doubt, beside_ns) for doubt in found[:INLINE_DOUBTS]]
    rest = len(found) - INLINE_DOUBTS
    if rest > 0:
        words.append(f"+{rest} note" if rest == 1 else f"+{rest} notes")
    return tuple(words)


def shared_words(cohort: Cohort) -> str:
    """What all rows are doubted for; a shift of one size cancels in no ratio."""
    least = least_ns(cohort)
    words = [doubt_words(doubt, least) for doubt in cohort.shared_doubts]
    longer = sum(doubt.shift_ns or 0.0 for doubt in cohort.shared_doubts)
    if longer > 0 and cohort.entry_count > 1:
        words.append("the same extra time in all rows, so ratios are understated")
    return "; ".join(words)


def least_ns(cohort: Cohort) -> float | None:
    """The value that sets the group's unit, where it is a time in ns."""
    if cohort.metric.unit != "ns":
        return None
    return min((entry.run.primary.value for entry in cohort.entries), default=None)


def _repeats(entry_point: str, title: str) -> bool:
    one, other = entry_point.casefold(), title.casefold()
    return one in other or other in one
