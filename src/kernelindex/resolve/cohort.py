"""One group of comparable results, named by its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.errors import NotFoundError
from kernelindex.ids import parse_prefix
from kernelindex.policy.facts import Profile
from kernelindex.resolve.rerun_words import rerun_words, reruns_on_device
from kernelindex.resolve.views import view_cohort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow
    from kernelindex.resolve.answer import Cohort
    from kernelindex.resolve.reads import Reads

MAX_ENTRIES = 200
MOST_BESIDE = 100


def show_cohort(catalog: Reads, ident: str, *, entries: int = MAX_ENTRIES) -> Cohort:
    """The group whose key begins with at least 8 given hex digits, with its first entries.

    Raises NotFoundError ``cohort.not_found``, also where several keys begin so.
    """
    prefix = parse_prefix(ident)
    row = catalog.cohort(prefix) if prefix else None
    if row is None:
        raise NotFoundError(
            f"no one group has the key {ident!r}; give 8 or more digits of its key",
            code="cohort.not_found",
        )
    found = catalog.entries((row.key,), first=entries).get(row.key, ())
    return view_cohort(row, found, limit=entries, rerun=read_rerun_words(catalog, row, found))


def read_rerun_words(catalog: Reads, row: CohortRow, found: Sequence[EntryRow]) -> str:
    """What other groups of its workload and device say of a reported group, read for it."""
    if row.profile == Profile.CONTROLLED:
        return ""
    rows = catalog.cohorts(
        shape_key=row.shape_key, metric=row.metric, profile=Profile.CONTROLLED, limit=MOST_BESIDE
    )
    again = reruns_on_device(row, rows)
    entries = catalog.entries([one.key for one in again]) if again else {}
    return rerun_words(row, found, again, entries)
