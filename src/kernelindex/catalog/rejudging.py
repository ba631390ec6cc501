"""Judging a few published cohorts again, within one transaction that something small needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from kernelindex.catalog.deriving import judge_members, published_members, write_judgement
from kernelindex.catalog.importing import DONE, insert_change
from kernelindex.catalog.judge_context import ContextReader, newest_snapshots
from kernelindex.catalog.tables import derived

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

Standing = dict[str, tuple[str | None, str | None]]


def judge_again(
    conn: Connection,
    keys: Sequence[str],
    *,
    action: str,
    detail: str,
    standing: Standing | None = None,
) -> None:
    """Judge these cohorts anew and point at the result, all in this transaction.

    ``standing`` has (superseded_by, retracted) of runs whose row says otherwise. The
    version before stays until the next import cleans up: a running import's versions,
    which nothing points at either, must not be taken for it.
    """
    if not keys:
        return
    version = insert_change(conn, action, "", detail, state=DONE)
    context = ContextReader(newest_snapshots(conn), staged=False)
    for key in keys:
        members = published_members(conn, key, standing or {})
        write_judgement(conn, version, judge_members(conn, members, context))
    table, rows = derived.cohort_heads, derived.cohorts
    conn.execute(delete(table).where(table.c.key.in_(keys)))
    new = select(rows.c.key, rows.c.version).where(rows.c.version == version)
    conn.execute(insert(table).from_select(["key", "version"], new))
