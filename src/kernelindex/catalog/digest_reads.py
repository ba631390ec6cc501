"""Reads of bare digests, for lists of addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from kernelindex.catalog.tables import truth

if TYPE_CHECKING:
    from kernelindex.catalog.database import Database


def read_digests(catalog: Database, kind: str, prefix: str, *, limit: int) -> list[str]:
    """The published digests of a kind whose hex begins with ``prefix``, in order."""
    table = truth.manifests
    start = f"sha256:{prefix}"
    query = (
        select(table.c.digest)
        .where(table.c.digest >= start, table.c.digest < start + "g", table.c.kind == kind)
        .order_by(table.c.digest)
        .limit(limit)
    )
    with catalog.reading() as conn:
        return list(conn.execute(query).scalars())
