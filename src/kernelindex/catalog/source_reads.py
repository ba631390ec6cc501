"""Reads of what was imported, from where and when."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from kernelindex.catalog.database import Database
from kernelindex.catalog.tables import truth


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRow:
    """One file that was read: ``told`` is the source that its rows are of."""

    told: str
    digest: str
    name: str
    size_bytes: int
    fetched_at: str
    parser_version: int
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRow:
    """How many rows of one snapshot were not taken for one reason, a stable token."""

    snapshot: str
    parser_version: int
    reason: str
    count: int


class SourceReads(Database):
    """Reads snapshots."""

    def skips(self) -> list[SkipRow]:
        """What was not taken of every snapshot, most first."""
        table = truth.skips
        query = select(
            table.c.snapshot, table.c.parser_version, table.c.reason, table.c.count
        ).order_by(table.c.snapshot, table.c.count.desc(), table.c.reason)
        with self.reading() as conn:
            return [SkipRow(**row._mapping) for row in conn.execute(query)]

    def snapshots(self) -> list[SnapshotRow]:
        """Every snapshot for each source that it told of, the newest first."""
        table, covered = truth.snapshots, truth.coverage
        query = (
            select(
                covered.c.source.label("told"),
                table.c.digest,
                table.c.name,
                table.c.size_bytes,
                table.c.fetched_at,
                table.c.parser_version,
                table.c.url,
            )
            .join(table, table.c.digest == covered.c.snapshot)
            .order_by(covered.c.source, table.c.fetched_at.desc(), table.c.digest)
        )
        with self.reading() as conn:
            return [SnapshotRow(**row._mapping) for row in conn.execute(query)]
