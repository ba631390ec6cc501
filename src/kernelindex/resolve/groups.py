"""Groups of an operation or of a GPU: how many there are, and a page of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from kernelindex.resolve.answer import CohortHead, Part
from kernelindex.resolve.views import head_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.catalog.group_reads import GroupCount
    from kernelindex.catalog.rows import CohortRow, EntryRow, Page

FIRST = 4
"""Entries read of each group: enough to say who leads and who is next."""


class GroupReads(Protocol):
    """What the catalog is asked for groups."""

    def group_counts(self, **filters: str | None) -> Sequence[GroupCount]: ...

    def group_page(
        self, *, cursor: str | None = None, limit: int = 50, **filters: str | None
    ) -> Page[CohortRow]: ...

    def entries(
        self, cohort_keys: Sequence[str], *, first: int | None = None
    ) -> Mapping[str, Sequence[EntryRow]]: ...


class GroupCountLine(Part):
    """How many groups one operation has on one device, for one pass and metric."""

    operation: str = Field(description="operation slug or digest")
    hardware: str = Field(description="hardware id")
    timed_pass: str = Field(alias="pass", description="timed pass, or unstated")
    metric: str = Field(description="metric id")
    groups: int = Field(description="groups in which anything was measured")
    contested: int = Field(description="those of several entries, so that there is a ranking")
    runs: int = Field(description="runs in them")


class GroupLine(CohortHead):
    """One group in a list."""

    ahead: float | None = Field(
        None, description="times that the leader is ahead of the first entry surely behind it"
    )


class GroupList(Part):
    """One page of groups."""

    groups: tuple[GroupLine, ...] = Field(description="those with most entries first")
    cursor: str | None = Field(None, description="asks for the next page")


def count_groups(catalog: GroupReads, **filters: str | None) -> tuple[GroupCountLine, ...]:
    """Groups counted by operation, device, pass and metric; filters of the same names."""
    return tuple(GroupCountLine(**asdict(row)) for row in catalog.group_counts(**filters))


def list_groups(
    catalog: GroupReads, *, cursor: str | None = None, limit: int = 20, **filters: str | None
) -> GroupList:
    """A page of groups; filters as of ``group_page``."""
    page = catalog.group_page(cursor=cursor, limit=limit, **filters)
    keys = tuple(row.key for row in page.rows)
    entries = catalog.entries(keys, first=FIRST) if keys else {}
    lines = (_line(row, entries.get(row.key, ())) for row in page.rows)
    return GroupList(groups=tuple(lines), cursor=page.cursor)


def _line(row: CohortRow, entries: Sequence[EntryRow]) -> GroupLine:
    return GroupLine(**head_fields(row, entries), ahead=_ahead(entries))


def _ahead(entries: Sequence[EntryRow]) -> float | None:
    """How many times better the leader is than the first entry that it surely beats."""
    behind = next((one for one in entries if (one.rank_low or 1) > 1), None)
    if behind is None or not behind.ratio_to_leader:
        return None
    return max(behind.ratio_to_leader, 1 / behind.ratio_to_leader)
