"""The starter as a source: Liger's two rows, the original's ids, our H200 runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.catalog.intake import Alias, Row, Skipped, Snapshot
from kernelindex.errors import RegistryError
from kernelindex.manifests import digest_of
from kernelindex.sources import liger
from kernelindex.sources.snapshots import now
from kernelindex.sources.starter.data import FILES, load_json, raw
from kernelindex.sources.starter.h200 import h200_rows
from kernelindex.sources.streams import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kernelindex.manifests import Manifest

__all__ = ["PARSER_VERSION", "SOURCE", "read"]

SOURCE = "starter"
PARSER_VERSION = 1
ORIGINAL = "kernelindex-original"


def read(path: Path | bytes | None = None) -> tuple[Snapshot, Iterator[Row | Skipped]]:
    """The snapshot of the packaged files and their rows; ``path`` is not used."""
    prints = {name: fingerprint(raw(name)) for name in FILES}
    snapshot = Snapshot(
        source=SOURCE,
        name=SOURCE,
        digest=digest_of({name: digest for name, (digest, _) in prints.items()}),
        size_bytes=sum(size for _, size in prints.values()),
        fetched_at=now(),
        parser_version=PARSER_VERSION,
    )
    return snapshot, _rows()


def _rows() -> Iterator[Row | Skipped]:
    published = list(liger.read(raw("liger.csv"))[1])
    yield from published
    yield from _original_names(published)
    yield from h200_rows()


def _original_names(published: Sequence[Row | Skipped]) -> Iterator[Row]:
    """The original page's ids of the loop's run and of what it names."""
    original = load_json("original.json")
    ours = _manifests_of(published, original["run"])
    for kind, names in original["ids"].items():
        found = ours[kind]
        aliases = tuple(
            Alias(alias=name, kind=kind, digest=found.digest, source=ORIGINAL)
            for name in _forms(names)
        )
        yield Row(where=f"original.json: {kind}", aliases=aliases)


def _manifests_of(published: Sequence[Row | Skipped], run: str) -> Mapping[str, Manifest]:
    """The manifests, by kind, of the published row with that mode and provider."""
    for row in published:
        if isinstance(row, Row) and row.observation is not None:
            source_row = row.observation.row
            parts = ("kernel_name", "kernel_operation_mode", "kernel_provider")
            if "/".join(source_row[part] for part in parts) == run:
                return {manifest.kind: manifest for manifest in row.manifests}
    raise RegistryError(f"starter/liger.csv has no row {run}")


def _forms(names: Sequence[str]) -> Iterator[str]:
    """Each name; a digest also as bare hex and by its first eight digits."""
    for name in names:
        yield name
        if name.startswith("sha256:"):
            digits = name.removeprefix("sha256:")
            yield digits
            yield digits[:8]
