"""The signed bundles that travel in the package: our own verified records."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from kernelindex.catalog.intake import Snapshot
from kernelindex.evidence.bundle import SUFFIX, sha256
from kernelindex.manifests import digest_of
from kernelindex.sources.evidence import PARSER_VERSION, SOURCE, rows_of
from kernelindex.sources.snapshots import now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from kernelindex.catalog.intake import Row, Skipped

__all__ = ["PARSER_VERSION", "SOURCE", "bundles", "read"]

FOLDER = "evidence"


def read(path: Path | bytes | None = None) -> tuple[Snapshot, Iterator[Row | Skipped]]:
    """The snapshot of the packaged bundles and their rows; ``path`` is not used."""
    found = {one.name: one.read_bytes() for one in bundles()}
    snapshot = Snapshot(
        source=SOURCE,
        name="records",
        digest=digest_of({name: sha256(data) for name, data in found.items()}),
        size_bytes=sum(map(len, found.values())),
        fetched_at=now(),
        parser_version=PARSER_VERSION,
    )
    return snapshot, (row for name, data in found.items() for row in rows_of(data, name))


def bundles() -> list[Traversable]:
    """The bundles of the package by name; none where the distribution has none yet."""
    folder = files("kernelindex.registry").joinpath(FOLDER)
    if not folder.is_dir():
        return []
    kept = (one for one in folder.iterdir() if one.name.endswith(SUFFIX))
    return sorted(kept, key=lambda one: one.name)
