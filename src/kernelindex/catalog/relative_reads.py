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
from sqlalchemy import and_, bindparam, case, func, not_, or_, select

from kernelindex.catalog.database import Database
from kernelindex.catalog.prepared import Prepared, rows_together
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.catalog.rows import RunRow

    Json = dict[str, Any]
    Entries = dict[str, dict[int, "RelativeEntry"]]

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
    interval: Json | None


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
    profile: str
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
            near_by = [OTHER_PASSES, *([_other_sizes(len(run.axes))] if run.axes else [])]
            passes, *sizes = rows_together(conn, *((read, setting) for read in near_by))
            near = {row.key for rows in sizes for row in rows if _is_near(run, row)}
            keys = sorted(near.union(row.key for row in passes))
            if not keys:
                return []
            rows = DOCUMENTS.rows(conn, keys=keys)
            cohorts = [doc for row in rows if _fits(run, doc := orjson.loads(row.doc))]
            values: Json = {
                "keys": [doc["key"] for doc in cohorts],
                **_range_of("line", run.line["id"]),
                **_range_of("revision", run.line["id"], run.revision),
            }
            asked = (BEST_OWN, BEST_OTHER, OF_REVISION)
            found = rows_together(conn, *((read, values) for read in asked))
        own, other = _by_cohort(row for rows in found for row in rows)
        return [
            _relative(doc, own.get(doc["key"], {}), other.get(doc["key"], {})) for doc in cohorts
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


def _entries(*conditions: Any) -> Prepared:
    """Current entries of the bound cohorts in rank order, those of the bound line marked."""
    joined = ENTRIES.join(
        HEADS, (HEADS.c.key == ENTRIES.c.cohort_key) & (HEADS.c.version == ENTRIES.c.version)
    )
    mine = case((_begins(ENTRIES, "line"), 1), else_=0)
    return Prepared(
        select(ENTRIES.c.cohort_key, ENTRIES.c.position, mine.label("mine"), ENTRIES.c.doc)
        .select_from(joined)
        .where(HEADS.c.key.in_(bindparam("keys", expanding=True)), *conditions)
        .order_by(HEADS.c.key, ENTRIES.c.position)
    )


def _begins(entries: Any, part: str) -> Any:
    """The condition that an entry's key begins as ``_keys_of`` says of the bound part."""
    key = entries.c.entry_key
    return and_(key >= bindparam(f"{part}_start"), key < bindparam(f"{part}_end"))


def _best(rest: Any, condition: Any) -> Any:
    """The position of a cohort's best entry that meets the condition."""
    return (
        select(rest.c.position)
        .where(rest.c.cohort_key == HEADS.c.key, rest.c.version == HEADS.c.version, condition)
        .order_by(rest.c.position)
        .limit(1)
        .scalar_subquery()
    )


REST = ENTRIES.alias("rest")
BEST_OWN = _entries(ENTRIES.c.position == _best(REST, _begins(REST, "line")))
BEST_OTHER = _entries(ENTRIES.c.position == _best(REST, not_(_begins(REST, "line"))))
OF_REVISION = _entries(_begins(ENTRIES, "revision"))
DOCUMENTS = Prepared(
    select(COHORTS.c.doc)
    .join(HEADS, (HEADS.c.key == COHORTS.c.key) & (HEADS.c.version == COHORTS.c.version))
    .where(COHORTS.c.key.in_(bindparam("keys", expanding=True)))
    .order_by(COHORTS.c.key)
)


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


def _range_of(part: str, *names: str) -> Json:
    """Where the entry keys of a line, or of a revision, lie: JSON lists of these names first."""
    start = json_text(names)[:-1]
    return {f"{part}_start": f"{start},", f"{part}_end": f"{start}-"}


def _by_cohort(rows: Iterable[Any]) -> tuple[Entries, Entries]:
    """The entries of the line, and the others, of each cohort by their positions."""
    found: tuple[Entries, Entries] = defaultdict(dict), defaultdict(dict)
    for row in rows:
        entries = found[0 if row.mine else 1][row.cohort_key]
        if row.position not in entries:
            doc = orjson.loads(row.doc)
            entries[row.position] = RelativeEntry(*(doc[name] for name in NAMED))
    return found


def _relative(
    doc: Json, own: dict[int, RelativeEntry], other: dict[int, RelativeEntry]
) -> RelativeRow:
    return RelativeRow(
        key=doc["key"],
        shape_key=doc["shape_key"],
        axes=doc["axes"],
        timed_pass=doc["timed_pass"],
        source=doc["source"],
        direction=doc["direction"],
        profile=doc["profile"],
        protocol=doc["protocol"],
        own=tuple(own[position] for position in sorted(own)),
        other=next(iter(other.values()), None),
    )
