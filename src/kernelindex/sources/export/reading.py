"""The walk over the export: each line becomes exactly one ``Row`` or ``Skipped``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.catalog.intake import Row, Skipped, Snapshot
from kernelindex.errors import CanonicalError
from kernelindex.manifests import canonical
from kernelindex.sources import streams
from kernelindex.sources.export.entry import SOURCE, Entry, Shared
from kernelindex.sources.export.ledger import Known, Ledger
from kernelindex.sources.export.tables import TABLES, Table
from kernelindex.sources.snapshots import snapshot_of
from kernelindex.sources.streams import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["PARSER_VERSION", "SOURCE", "read"]

PARSER_VERSION = 1


def read(
    path: Path | bytes, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[Snapshot, Iterator[Row | Skipped]]:
    """The snapshot of an export (.jsonl or .jsonl.zst) and its rows, in one bounded pass.

    Raises ``SourceError`` where the file cannot be read at all (see ``streams.opened``).
    """
    return snapshot_of(path, SOURCE, PARSER_VERSION), _rows(path, limits)


def _rows(path: Path | bytes, limits: Limits) -> Iterator[Row | Skipped]:
    reader = _Reader(limits)
    try:
        for line in streams.lines(path, limits):
            outcome = reader.take(line)
            if outcome is not None:
                yield outcome
        for number, data in reader.ledger.set_aside():
            yield reader.take_late(number, data)
    finally:
        reader.ledger.close()


class _Reader:
    def __init__(self, limits: Limits) -> None:
        self.ledger = Ledger()
        self._shared = Shared()
        self._limits = limits

    def take(self, line: streams.Line) -> Row | Skipped | None:
        """What a line becomes, or None where it has to wait for later ones."""
        where = f"line {line.number}"
        if line.data is None:
            return Skipped(where=where, reason="line_too_long", detail=f"{line.size_bytes} bytes")
        parsed = self._parse(line.data, where)
        if isinstance(parsed, Skipped):
            return parsed
        table, row = parsed
        found = self._found(table, row)
        if table.at_the_end or _unresolved(table, row, found):
            self.ledger.put_aside(table.rank, line.number, line.data)
            return None
        return self._build(table, row, where, found)

    def take_late(self, number: int, data: bytes) -> Row | Skipped:
        """What a line that waited becomes, now that everything was read."""
        where = f"line {number}"
        parsed = self._parse(data, where)
        if isinstance(parsed, Skipped):
            return parsed
        table, row = parsed
        return self._build(table, row, where, self._found(table, row))

    def _parse(self, data: bytes, where: str) -> tuple[Table, Mapping[str, Any]] | Skipped:
        if not data.strip():
            return Skipped(where=where, reason="blank_line")
        try:
            line = canonical.loads(data, max_bytes=self._limits.line_bytes)
        except CanonicalError as error:
            return Skipped(where=where, reason=error.code, detail=error.message)
        if not isinstance(line, dict) or not isinstance(line.get("row"), dict):
            return Skipped(where=where, reason="not_a_table_row")
        table = TABLES.get(str(line.get("table")))
        if table is None:
            return Skipped(where=where, reason="unknown_table", detail=str(line.get("table"))[:80])
        row = line["row"]
        assert isinstance(row, dict)
        wrong = _wrong_column(table, row)
        if wrong is not None:
            return Skipped(where=where, reason="bad_column", detail=f"{line['table']}.{wrong}")
        return table, row

    def _found(self, table: Table, row: Mapping[str, Any]) -> dict[str, Known | None]:
        columns = (*table.references, *table.optional)
        return {
            column: self.ledger.find(ident) if isinstance(ident := row.get(column), str) else None
            for column in columns
        }

    def _build(
        self, table: Table, row: Mapping[str, Any], where: str, found: dict[str, Known | None]
    ) -> Row | Skipped:
        entry = Entry(row=row, where=where, found=found, ledger=self.ledger, shared=self._shared)
        return table.build(entry)


def _unresolved(table: Table, row: Mapping[str, Any], found: Mapping[str, Known | None]) -> bool:
    if any(found[column] is None for column in table.references):
        return True
    return any(row.get(column) is not None and found[column] is None for column in table.optional)


def _wrong_column(table: Table, row: Mapping[str, Any]) -> str | None:
    """The first column that does not hold what every row of the table needs, if any."""
    for column in (*table.texts, *table.references):
        if not isinstance(row.get(column), str):
            return column
    if table.manifest and not isinstance(row.get("manifest"), dict):
        return "manifest"
    return None
