"""The signed bundles that travel in the package: our own verified records.

What a fault of ours made wrong in them is retracted by corrections that travel beside them.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from kernelindex.catalog.correcting import correct as correct_run
from kernelindex.catalog.correcting import is_corrected
from kernelindex.catalog.intake import Correction, Snapshot
from kernelindex.errors import NotFoundError, RegistryError
from kernelindex.evidence.bundle import SUFFIX, sha256
from kernelindex.manifests import digest_of
from kernelindex.registry import corrections
from kernelindex.sources.evidence import PARSER_VERSION, SOURCE, rows_of
from kernelindex.sources.snapshots import now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.intake import Row, Skipped

__all__ = ["PARSER_VERSION", "SOURCE", "bundles", "correct", "read"]

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


def correct(catalog: Database, *, dry_run: bool = False) -> dict[str, int]:
    """Apply the packaged corrections as an operator would; how many now, and how many before.

    A dry run counts and applies none. Raises RegistryError ``registry.correction`` where
    one names a run that is not here.
    """
    counts = {"applied": 0, "existing": 0}
    for one in corrections.load_corrections():
        new = _correct(catalog, one, dry_run=dry_run)
        counts["applied" if new else "existing"] += 1
    return counts


def _correct(catalog: Database, shipped: corrections.ShippedCorrection, *, dry_run: bool) -> bool:
    said = Correction(
        action=shipped.action, run_digest=shipped.run, actor=shipped.by, reason=shipped.reason
    )
    if dry_run:
        return not is_corrected(catalog, said)
    try:
        return correct_run(catalog, said, at=f"{shipped.date}T00:00:00Z")
    except NotFoundError as missing:
        raise RegistryError(
            f"registry data {corrections.FILE} corrects run {shipped.run}, which is not in this"
            " catalog after the packaged bundles were read: none of them has it, or the one"
            " that has it was not taken",
            code="registry.correction",
            file=corrections.FILE,
            run=shipped.run,
        ) from missing
