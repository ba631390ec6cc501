"""Reads of groups (cohorts) as lists: how many there are, and a page of them at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import case, func, select

from kernelindex.catalog import cursors
from kernelindex.catalog.database import Database
from kernelindex.catalog.ranking_reads import build_cohort
from kernelindex.catalog.rows import CohortRow, Page
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Sequence

COHORTS, HEADS = derived.cohorts, derived.cohort_heads
GROUP_FILTERS = {
    "operation": COHORTS.c.operation,
    "hardware": COHORTS.c.hardware,
    "timed_pass": COHORTS.c.timed_pass,
    "metric": COHORTS.c.metric,
    "shape_key": COHORTS.c.shape_key,
}
LEFT_OUT = "without_metric"
"""A filter that leaves out one metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """Groups of one operation, device, pass and metric; ``contested`` have several entries."""

    operation: str
    hardware: str
    timed_pass: str
    metric: str
    groups: int
    contested: int
    runs: int


class GroupReads(Database):
    """Reads groups without their entries."""

    def group_counts(self, **filters: str | None) -> list[GroupCount]:
        """How many groups there are, most runs first; see ``GROUP_FILTERS`` for the names."""
        named = [COHORTS.c[name] for name in ("operation", "hardware", "timed_pass", "metric")]
        several = case((COHORTS.c.entry_count > 1, 1), else_=0)
        runs = func.sum(COHORTS.c.run_count)
        query = (
            select(
                *named,
                func.count().label("groups"),
                func.sum(several).label("contested"),
                runs.label("runs"),
            )
            .select_from(_current())
            .where(*_conditions(filters))
            .group_by(*named)
            .order_by(runs.desc(), *named)
        )
        with self.reading() as conn:
            return [_count(row._mapping) for row in conn.execute(query)]

    def group_page(
        self,
        *,
        cursor: str | None = None,
        limit: int = cursors.DEFAULT_LIMIT,
        **filters: str | None,
    ) -> Page[CohortRow]:
        """A page of groups that anything ranks in, those with most entries first.

        Filters: those of ``GROUP_FILTERS``, and ``without_metric``.
        """
        chosen = {"list": "groups", **filters}
        after = cursors.decode_cursor(chosen, cursor, int, str)
        place = (COHORTS.c.entry_count, COHORTS.c.key)
        title = derived.operations.c.title
        titled = _current().join(
            derived.operations, derived.operations.c.slug == COHORTS.c.operation, isouter=True
        )
        query = select(*place, COHORTS.c.doc, title).select_from(titled)
        query = query.where(COHORTS.c.entry_count > 0, *_conditions(filters))
        if after is not None:
            count, key = after
            later = (place[0] == count) & (place[1] > key)
            query = query.where((place[0] < count) | later)
        query = query.order_by(place[0].desc(), place[1]).limit(cursors.check_limit(limit) + 1)
        with self.reading() as conn:
            rows = conn.execute(query).all()
        shown = tuple(build_cohort(orjson.loads(row.doc), row.title) for row in rows[:limit])
        if len(rows) <= limit:
            return Page(shown, None)
        last = rows[limit - 1]
        return Page(shown, cursors.encode_cursor(chosen, (last.entry_count, last.key)))

    def entry_counts(self, keys: Sequence[str]) -> dict[str, int]:
        """How many entries each of some groups has."""
        query = (
            select(COHORTS.c.key, COHORTS.c.entry_count)
            .select_from(_current())
            .where(COHORTS.c.key.in_(list(keys)))
        )
        with self.reading() as conn:
            return {row.key: row.entry_count for row in conn.execute(query)}


def _current() -> Any:
    """The current versions of groups."""
    return COHORTS.join(
        HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version)
    )


def _conditions(filters: dict[str, str | None]) -> list[Any]:
    asked = {name: value for name, value in filters.items() if value is not None}
    without = asked.pop(LEFT_OUT, None)
    left_out = [] if without is None else [COHORTS.c.metric != without]
    return [*left_out, *(GROUP_FILTERS[name] == value for name, value in asked.items())]


def _count(row: Any) -> GroupCount:
    counts = {name: int(row[name]) for name in ("groups", "contested", "runs")}
    return GroupCount(**{**row, **counts})
