"""Reads around one run: the same line in other passes, and along each axis of its shape.

Of the many cohorts of an operation on a device only those are read that differ from the
run's in nothing but the pass or one axis, and of those only the entries of the run's line
and the best entry of any other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, or_, select

from kernelindex.catalog.database import Database
from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.catalog.rows import RunRow

    Json = dict[str, Any]

MOST_COHORTS = 2000
COHORTS, HEADS, ENTRIES = derived.cohorts, derived.cohort_heads, derived.entries
RUNS, SHAPES = derived.runs, derived.shapes


@dataclass(frozen=True, slots=True)
class RelativeEntry:
    """What is said of an entry beside a run; a run has up to a hundred of them beside it."""

    run_digest: str
    value: float
    unit: str
    revision: str
    line: Json
    implementation: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeRow:
    """A cohort that differs from a run's in the pass alone, or in one axis at most.

    ``own`` are the best entry of the run's line and those of its revision, in rank order,
    ``other`` the best of any other line.
    """

    key: str
    shape_key: str
    axes: Json
    timed_pass: str
    source: str
    direction: str | None
    protocol: Json
    own: tuple[RelativeEntry, ...]
    other: RelativeEntry | None


NAMED = tuple(field.name for field in fields(RelativeEntry))


class RelativeReads(Database):
    """Reads what stands beside a run."""

    def relatives(self, run: RunRow) -> list[RelativeRow]:
        """Cohorts on the run's device, for its metric and dtypes, that are near it, by key."""
        with self.reading() as conn:
            setting = _setting(run)
            sizes = _other_sizes(len(run.axes)).rows(conn, **setting) if run.axes else ()
            near = {row.key for row in sizes if _is_near(run, row)}
            keys = sorted(near.union(row.key for row in OTHER_PASSES.rows(conn, **setting)))
            if not keys:
                return []
            rows = DOCUMENTS.rows(conn, keys=keys)
            cohorts = [doc for row in rows if _fits(run, doc := orjson.loads(row.doc))]
            values: Json = {
                "keys": [doc["key"] for doc in cohorts],
                "mine": _keys_of(run.line["id"]),
            }
            own = _by_cohort(OWN.rows(conn, **values), _keys_of(run.line["id"], run.revision))
            other = _by_cohort(OTHER.rows(conn, **values))
        return [
            _relative(doc, own.get(doc["key"], ()), other.get(doc["key"], ())) for doc in cohorts
        ]


DEVICE = select(RUNS.c.hardware).where(RUNS.c.digest == bindparam("run")).scalar_subquery()
ON_DEVICE = func.coalesce(COHORTS.c.hardware, "") == DEVICE
"""Not by its index, which SQLite would take: one device has thousands of cohorts, a shape few."""
OTHER_PASSES = Prepared(
    select(COHORTS.c.key).where(
        COHORTS.c.shape_key == bindparam("shape_key"),
        ON_DEVICE,
        COHORTS.c.metric == bindparam("metric"),
    )
)


@cache
def _other_sizes(axes: int) -> Prepared:
    """Cohorts of the run's pass whose shapes are as the run's with one of its axes open.

    A pattern for each axis finds them among the shapes, of which gemm has 620, faster than
    looking at the shapes of all cohorts. Old versions of cohorts are among them.
    """
    patterns = [SHAPES.c.axes.like(bindparam(f"axis_{number}")) for number in range(axes)]
    return Prepared(
        select(COHORTS.c.key, SHAPES.c.axes)
        .join(SHAPES, SHAPES.c.shape_key == COHORTS.c.shape_key)
        .where(
            SHAPES.c.operation == bindparam("operation"),
            SHAPES.c.dtypes == bindparam("dtypes"),
            or_(*patterns),
            ON_DEVICE,
            COHORTS.c.timed_pass == bindparam("timed_pass"),
            COHORTS.c.metric == bindparam("metric"),
        )
        .limit(MOST_COHORTS)
    )


def _entries(*, own: bool) -> Prepared:
    """Entries of the bound line, or the best of any other, of the bound cohorts."""
    joined = ENTRIES.join(
        HEADS, (HEADS.c.key == ENTRIES.c.cohort_key) & (HEADS.c.version == ENTRIES.c.version)
    )
    mine: Any = bindparam("mine")
    query = (
        select(ENTRIES.c.cohort_key, ENTRIES.c.entry_key, ENTRIES.c.doc)
        .select_from(joined)
        .where(HEADS.c.key.in_(bindparam("keys", expanding=True)))
        .order_by(HEADS.c.key, ENTRIES.c.position)
    )
    if own:
        mine_only = func.substr(ENTRIES.c.entry_key, 1, func.length(mine)) == mine
        return Prepared(query.where(mine_only))
    rest = ENTRIES.alias("rest")
    best = (
        select(rest.c.position)
        .where(rest.c.cohort_key == HEADS.c.key, rest.c.version == HEADS.c.version)
        .where(func.substr(rest.c.entry_key, 1, func.length(mine)) != mine)
        .order_by(rest.c.position)
        .limit(1)
        .scalar_subquery()
    )
    return Prepared(query.where(ENTRIES.c.position == best))


DOCUMENTS = Prepared(
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
        **{f"axis_{number}": text for number, text in enumerate(_patterns(run.axes))},
    }


def _patterns(axes: Json) -> list[str]:
    """The axes as stored, each time with another one open; ``_`` in a name matches more."""
    return [json_text({**axes, name: "%"}).replace('"%"', "%") for name in sorted(axes)]


def _is_near(run: RunRow, row: Any) -> bool:
    """Whether a cohort's shape differs from the run's in one axis at most."""
    axes: Json = orjson.loads(row.axes)
    return (
        axes.keys() == run.axes.keys()
        and sum(value != run.axes[name] for name, value in axes.items()) <= 1
    )


def _fits(run: RunRow, doc: Json) -> bool:
    """Whether the whole device class and the protocol's name are the run's, too."""
    same_protocol: bool = doc["protocol"].get("name") == run.protocol.get("name")
    return bool(doc["device"] == run.device) and (
        same_protocol or doc["timed_pass"] != run.timed_pass
    )


def _keys_of(*parts: str) -> str:
    """How the entry keys of a line, and of a revision, begin: JSON lists of these first."""
    return f"{json_text(parts)[:-1]},"


def _by_cohort(rows: Iterable[Any], wanted: str = "") -> dict[str, list[RelativeEntry]]:
    """The first entry of each cohort, and those whose key begins as wanted."""
    found: dict[str, list[RelativeEntry]] = defaultdict(list)
    for row in rows:
        entries = found[row.cohort_key]
        if not entries or (wanted and row.entry_key.startswith(wanted)):
            doc = orjson.loads(row.doc)
            entries.append(RelativeEntry(*(doc[name] for name in NAMED)))
    return found


def _relative(
    doc: Json, own: Sequence[RelativeEntry], other: Sequence[RelativeEntry]
) -> RelativeRow:
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
