"""Rows of the list of shapes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, select

from kernelindex.catalog import bulk
from kernelindex.catalog.facts_codec import decode
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.touched import current_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from kernelindex.catalog.touched import Touched


def list_shapes(conn: Connection, touched: Touched) -> Iterator[tuple[Any, ...]]:
    """Every measured shape, with its cohorts counted by device and pass."""
    for part in bulk.chunks(touched.keys("shapes"), bulk.IN_CHUNK):
        yield from _shape_rows(conn, touched, list(part))


def _shape_rows(conn: Connection, touched: Touched, keys: list[str]) -> list[tuple[Any, ...]]:
    counts: dict[str, list[Any]] = defaultdict(list)
    for row in conn.execute(_counts(keys)):
        counts[row.shape_key].append(row)
    first = {key: min(row.first for row in rows) for key, rows in counts.items()}
    facts = touched.facts_of(sorted(first.values()))
    return [_shape_row(key, counts[key], facts[first[key]]) for key in sorted(counts)]


def _shape_row(key: str, counts: list[Any], facts: bytes) -> tuple[Any, ...]:
    shape = decode(facts).shape
    return (
        key,
        shape.operation,
        json_text(dict(shape.axes)),
        json_text(dict(shape.dtypes)),
        shape.distribution,
        sum(row.cohorts for row in counts),
        sum(row.count for row in counts),
        json_text(_by("hardware", counts)),
        json_text(_by("timed_pass", counts)),
    )


def _by(column: str, counts: list[Any]) -> dict[str, int]:
    """Cohorts by the values of one column."""
    total: dict[str, int] = defaultdict(int)
    for row in counts:
        total[getattr(row, column)] += row.cohorts
    return {value: count for value, count in total.items() if count}


def _counts(keys: list[str]) -> Any:
    columns = ("shape_key", "hardware", "timed_pass", "cohort_key", "entry_key", "digest")
    runs = current_runs("by_shape", *columns)
    ranked = case((runs.c.entry_key.is_not(None), runs.c.cohort_key))
    grouped = (runs.c.shape_key, runs.c.hardware, runs.c.timed_pass)
    return (
        select(
            *grouped,
            func.count().label("count"),
            func.count(ranked.distinct()).label("cohorts"),
            func.min(runs.c.digest).label("first"),
        )
        .where(runs.c.shape_key.in_(keys))
        .group_by(*grouped)
    )
