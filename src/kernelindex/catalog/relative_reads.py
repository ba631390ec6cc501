"""Reads around one run: the same line in other passes, and along each axis of its shape.

Of the many cohorts of an operation on a device only those are read that differ from the
run's in nothing but the pass or one axis, and of those only the entries of the run's line
and the best entry of any other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, or_, select

from kernelindex.catalog.database import Database
from kernelindex.catalog.ranking_reads import build_entry
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.catalog.rows import EntryRow, RunRow

    Json = dict[str, Any]

MOST_COHORTS = 2000
COHORTS, HEADS, ENTRIES = derived.cohorts, derived.cohort_heads, derived.entries
RUNS, SHAPES = derived.runs, derived.shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeRow:
    """A cohort that differs from a run's in the pass alone, or in one axis at most.

    ``own`` are the entries of the run's line in rank order, ``other`` the best of any other.
    """

    key: str
    shape_key: str
    axes: Json
    timed_pass: str
    source: str
    direction: str | None
    protocol: Json
    own: tuple[EntryRow, ...]
    other: EntryRow | None


class RelativeReads(Database):
    """Reads what stands beside a run."""

    def relatives(self, run: RunRow) -> list[RelativeRow]:
        """Cohorts on the run's device, for its metric and dtypes, that are near it, by key."""
        with self.reading() as conn:
            listed = conn.execute(NEARBY, _setting(run))
            keys = sorted(row.key for row in listed if _is_near(run, row))
            if not keys:
                return []
            rows = conn.execute(DOCUMENTS, {"keys": keys})
            cohorts = [doc for row in rows if _fits(run, doc := orjson.loads(row.doc))]
            values = {"keys": [doc["key"] for doc in cohorts], "mine": _keys_of(run.line["id"])}
            own = _by_cohort(conn.execute(OWN, values))
            other = _by_cohort(conn.execute(OTHER, values))
        return [_relative(doc, own[doc["key"]], other[doc["key"]]) for doc in cohorts]


def _nearby() -> Any:
    """Key, shape, pass and axes of cohorts of the run's pass or shape, no document parsed."""
    device = select(RUNS.c.hardware).where(RUNS.c.digest == bindparam("run")).scalar_subquery()
    joined = COHORTS.join(
        HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version)
    ).join(SHAPES, SHAPES.c.shape_key == COHORTS.c.shape_key)
    return (
        select(COHORTS.c.key, COHORTS.c.shape_key, COHORTS.c.timed_pass, SHAPES.c.axes)
        .select_from(joined)
        .where(
            COHORTS.c.operation == bindparam("operation"),
            COHORTS.c.hardware == device,
            COHORTS.c.metric == bindparam("metric"),
            COHORTS.c.entry_count > 0,
            SHAPES.c.dtypes == bindparam("dtypes"),
            or_(
                COHORTS.c.timed_pass == bindparam("timed_pass"),
                COHORTS.c.shape_key == bindparam("shape_key"),
            ),
        )
        .limit(MOST_COHORTS)
    )


def _entries(*, own: bool) -> Any:
    """Entries of the bound line, or the best of any other, of the bound cohorts."""
    joined = ENTRIES.join(
        HEADS, (HEADS.c.key == ENTRIES.c.cohort_key) & (HEADS.c.version == ENTRIES.c.version)
    )
    mine: Any = bindparam("mine")
    query = (
        select(ENTRIES.c.cohort_key, ENTRIES.c.doc)
        .select_from(joined)
        .where(ENTRIES.c.cohort_key.in_(bindparam("keys", expanding=True)))
        .order_by(ENTRIES.c.cohort_key, ENTRIES.c.position)
    )
    if own:
        return query.where(func.substr(ENTRIES.c.entry_key, 1, func.length(mine)) == mine)
    rest = ENTRIES.alias("rest")
    best = (
        select(func.min(rest.c.position))
        .where(rest.c.cohort_key == ENTRIES.c.cohort_key, rest.c.version == ENTRIES.c.version)
        .where(func.substr(rest.c.entry_key, 1, func.length(mine)) != mine)
        .scalar_subquery()
    )
    return query.where(ENTRIES.c.position == best)


NEARBY = _nearby()
DOCUMENTS = (
    select(COHORTS.c.doc)
    .join(HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version))
    .where(COHORTS.c.key.in_(bindparam("keys", expanding=True)))
    .order_by(COHORTS.c.key)
)
OWN, OTHER = _entries(own=True), _entries(own=False)


def _setting(run: RunRow) -> Json:
    return {
        "run": run.digest,
        "operation": run.operation,
        "metric": run.metric or "",
        "dtypes": json_text(run.dtypes),
        "timed_pass": run.timed_pass,
        "shape_key": run.shape_key,
    }


def _is_near(run: RunRow, row: Any) -> bool:
    """Whether a cohort is of the run's shape, or of one that differs in one axis."""
    if row.shape_key == run.shape_key:
        return True
    axes: Json = orjson.loads(row.axes)
    return (
        axes.keys() == run.axes.keys()
        and sum(value != run.axes[name] for name, value in axes.items()) == 1
    )


def _fits(run: RunRow, doc: Json) -> bool:
    """Whether the whole device class and the protocol's name are the run's, too."""
    same_protocol: bool = doc["protocol"].get("name") == run.protocol.get("name")
    return bool(doc["device"] == run.device) and (
        same_protocol or doc["timed_pass"] != run.timed_pass
    )


def _keys_of(line_id: str) -> str:
    """How the entry keys of a line begin: they are JSON lists with its id first."""
    return f"{json_text([line_id])[:-1]},"


def _by_cohort(rows: Iterable[Any]) -> dict[str, list[EntryRow]]:
    found: dict[str, list[EntryRow]] = defaultdict(list)
    for row in rows:
        found[row.cohort_key].append(build_entry(orjson.loads(row.doc)))
    return found


def _relative(doc: Json, own: list[EntryRow], other: list[EntryRow]) -> RelativeRow:
    return RelativeRow(
        key=doc["key"],
        shape_key=doc["shape_key"],
        axes=doc["axes"],
        timed_pass=doc["timed_pass"],
        source=doc["source"],
        direction=doc["direction"],
        protocol=doc["protocol"],
        own=tuple(own),
        other=other[0] if other else None,
    )
