"""Reads around one run: the same line in other passes, and along each axis of its shape.

Of the many cohorts of an operation on a device only those are read that differ from the
run's in nothing but the pass or one axis, and of those only two entries: the best of the
run's line and the best of any other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, func, select

from kernelindex.catalog.database import Database
from kernelindex.catalog.ranking_reads import build_entry
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.catalog.rows import EntryRow, RunRow

    Json = dict[str, Any]

MOST_COHORTS = 2000
COHORTS, HEADS, ENTRIES, SHAPES = (
    derived.cohorts,
    derived.cohort_heads,
    derived.entries,
    derived.shapes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeRow:
    """A cohort that differs from a run's in the pass alone, or in one axis alone.

    ``own`` is the best entry of the run's line in it, ``other`` the best of another line.
    """

    key: str
    shape_key: str
    axes: Json
    timed_pass: str
    source: str
    direction: str | None
    protocol: Json
    own: EntryRow | None
    other: EntryRow | None


class RelativeReads(Database):
    """Reads what stands beside a run."""

    def relatives(self, run: RunRow) -> list[RelativeRow]:
        """Cohorts on the run's device that differ in the pass, or in one axis, by their key."""
        with self.reading() as conn:
            listed = conn.execute(NEARBY, _setting(run))
            near = {row.key: row for row in listed if _is_near(run, row)}
            if not near:
                return []
            keys = sorted(near)
            documents = {
                row.key: orjson.loads(row.doc) for row in conn.execute(DOCUMENTS, {"keys": keys})
            }
            mine = func_prefix(run.line["id"])
            own = _first(conn.execute(BEST_OWN, {"keys": keys, "mine": mine}))
            other = _first(conn.execute(BEST_OTHER, {"keys": keys, "mine": mine}))
        return [
            _relative(near[key], documents[key], own.get(key), other.get(key))
            for key in keys
            if _same_setting(run, documents[key])
        ]


def func_prefix(line_id: str) -> str:
    """The pattern of entry keys of a line: they are JSON lists that begin with its id."""
    start = orjson.dumps([line_id]).decode()[:-1]
    escaped = start.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{escaped},%"


def _setting(run: RunRow) -> Json:
    return {
        "operation": run.operation,
        "family": run.device.get("family") or "",
        "metric": run.metric or "",
        "dtypes": json_text(run.dtypes),
    }


def json_text(mapping: Json) -> str:
    """A mapping as the shapes' table stores it: sorted and compact."""
    return orjson.dumps(mapping, option=orjson.OPT_SORT_KEYS).decode()
