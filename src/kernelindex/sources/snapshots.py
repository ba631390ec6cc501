"""What was read, when: the snapshot every import begins with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kernelindex.catalog.intake import Snapshot
from kernelindex.sources.streams import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["now", "snapshot_of"]


def now() -> str:
    """The present instant in UTC, to the second, with ``Z``."""
    return datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def snapshot_of(
    path: Path | bytes, source: str, parser_version: int, *, url: str | None = None
) -> Snapshot:
    """The snapshot of one file's raw bytes.

    Raises ``SourceError`` (``source.unreadable``) where the file cannot be opened.
    """
    digest, size = fingerprint(path)
    return Snapshot(
        source=source,
        name=source if isinstance(path, bytes) else path.name,
        digest=digest,
        size_bytes=size,
        fetched_at=now(),
        parser_version=parser_version,
        url=url,
    )
