"""Runs that do not rank beside those that do: listed with their reasons, counted where many."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kernelindex.resolve.answer import Excluded, ExcludedCount
from kernelindex.resolve.views import view_excluded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.catalog.rows import CohortRow, ExcludedRow
    from kernelindex.resolve.reads import Reads

MOST_READ = 500


def excluded_of(catalog: Reads, cohorts: Sequence[CohortRow]) -> list[ExcludedRow]:
    """Runs that do not rank in some groups.

    A run without a number is in no group. It is of those of its shape, pass and device that
    have its source.
    """
    keys = tuple(row.key for row in cohorts)
    sources = {row.source for row in cohorts}.union(*(row.sources for row in cohorts))
    rows = catalog.excluded(keys, limit=MOST_READ) if keys else ()
    return [row for row in rows if row.cohort_key in keys or row.source in sources]


def is_under(row: ExcludedRow, cohort: CohortRow) -> bool:
    """Whether a run is in a group, or without a number under the group's very protocol."""
    return row.cohort_key == cohort.key or row.run_protocol == cohort.protocol


def view_all_excluded(rows: Iterable[ExcludedRow]) -> tuple[Excluded, ...]:
    """The runs with their reasons, those of the rarest reason first: many alike hide no other."""
    found = [view_excluded(row) for row in rows]
    counts = Counter(_why(one) for one in found)
    return tuple(sorted(found, key=lambda one: (counts[_why(one)], _why(one))))


def count_excluded(found: Iterable[Excluded]) -> tuple[ExcludedCount, ...]:
    """How many there are of each reason, or of several together, most first."""
    counts = Counter(_why(one) for one in found)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(
        ExcludedCount(codes=codes, text=text, runs=runs) for (text, codes), runs in ordered
    )


def _why(one: Excluded) -> tuple[str, tuple[str, ...]]:
    text = "; ".join(reason.text for reason in one.reasons)
    return text, tuple(reason.code for reason in one.reasons)
