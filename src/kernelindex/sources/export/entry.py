"""One row of the export on its way to becoming a ``Row`` or ``Skipped``."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.catalog.intake import Alias, Skipped
from kernelindex.errors import ManifestError
from kernelindex.manifests import Manifest, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.sources.export.ledger import Known, Ledger

__all__ = ["SOURCE", "Entry", "Shared", "aliases_of", "refuse"]

SOURCE = "kernelindex-export"
_REMEMBERED = 512


class Shared:
    """Parsed protocols and environments: few differ, and every run repeats its own."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[str, tuple[Mapping[str, Any], Manifest]] = OrderedDict()

    def parse(self, key: str, document: Mapping[str, Any]) -> Manifest:
        """The manifest of ``document``, parsed once as long as ``key`` keeps meaning it."""
        held = self._parsed.get(key)
        if held is not None and held[0] == document:
            self._parsed.move_to_end(key)
            return held[1]
        manifest = parse(document)
        self._parsed[key] = (document, manifest)
        if len(self._parsed) > _REMEMBERED:
            self._parsed.popitem(last=False)
        return manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row whose required columns are there; ``found`` holds what its references name."""

    row: Mapping[str, Any]
    where: str
    found: Mapping[str, Known | None]
    ledger: Ledger
    shared: Shared

    def parse(self, document: Mapping[str, Any] | None = None) -> Manifest | Skipped:
        """The manifest of ``document`` or of the row, or why its kind refuses it."""
        try:
            return parse(self.row["manifest"] if document is None else document)
        except ManifestError as error:
            return refuse(self, error.code, error.message)

    def differing(self, expected: Mapping[str, str]) -> tuple[str, ...]:
        """A note for each reference column that names another digest than the manifest does."""
        return tuple(
            _reference_note(column, self.found.get(column), digest)
            for column, digest in expected.items()
            if (known := self.found.get(column)) is None or known.name != digest
        )


def refuse(entry: Entry, reason: str, detail: str = "") -> Skipped:
    """The row becomes nothing, for that reason."""
    return Skipped(where=entry.where, reason=reason, detail=detail)


def aliases_of(manifest: Manifest, *names: object) -> tuple[Alias, ...]:
    """Aliases of a manifest for every foreign name that is stated and is not its own name."""
    stated = dict.fromkeys(n for n in names if isinstance(n, str) and n and n != manifest.name)
    return tuple(
        Alias(alias=name, kind=manifest.kind, digest=manifest.digest, source=SOURCE)
        for name in stated
    )


def _reference_note(column: str, known: Known | None, digest: str) -> str:
    if known is None:
        return f"reference_not_in_file: {column} names no row of this file"
    return f"reference_differs: {column} names {known.name}, the manifest {digest}"
