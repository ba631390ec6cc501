"""Everything known of one group of comparable results, as its page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from kernelindex.errors import NotFoundError
from kernelindex.ids import parse_prefix
from kernelindex.resolve.answer import Best, Cohort, Excluded, ExcludedCount, Part
from kernelindex.resolve.best import pick_best
from kernelindex.resolve.cohort import read_rerun_words
from kernelindex.resolve.dossier import RecordLine  # noqa: TC001 (pydantic reads it)
from kernelindex.resolve.fallen import (
    count_excluded,
    excluded_of,
    is_under,
    view_all_excluded,
)
from kernelindex.resolve.run_lines import view_record
from kernelindex.resolve.views import CONTROLLED, view_cohort

if TYPE_CHECKING:
    from kernelindex.resolve.reads import Reads

MAX_ENTRIES = 200
MAX_RECORDS = 20
MAX_EXCLUDED = 50


class Group(Part):
    """A cohort with what surrounds its ranking."""

    cohort: Cohort = Field(description="the group with its entries in rank order")
    best: Best = Field(description="best reported, verified and deployable of it")
    tolerance: dict[str, Any] = Field(
        description="below what difference reported numbers say nothing; empty where samples tell"
    )
    excluded: tuple[Excluded, ...] = Field((), description="runs that do not rank, and why")
    excluded_counts: tuple[ExcludedCount, ...] = Field((), description="all of them, by reason")
    records: tuple[RecordLine, ...] = Field((), description="changes of its leader, newest first")


def show_group(catalog: Reads, ident: str, *, entries: int = MAX_ENTRIES) -> Group:
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
    best = {key for slot in row.best.values() for key in slot["entries"][:3]}
    found = catalog.entries((row.key,), first=entries, also=best)
    own = found.get(row.key, ())
    records = catalog.records({"cohort_key": row.key}, limit=MAX_RECORDS)
    fallen = [one for one in excluded_of(catalog, [row]) if is_under(one, row)]
    excluded = view_all_excluded(fallen)
    return Group(
        cohort=view_cohort(row, own, limit=entries, rerun=read_rerun_words(catalog, row, own)),
        best=pick_best([row], found, lambda _entry: True),
        tolerance={} if row.profile == CONTROLLED else dict(row.tolerance),
        excluded=excluded[:MAX_EXCLUDED],
        excluded_counts=count_excluded(excluded),
        records=tuple(map(view_record, records.rows)),
    )
