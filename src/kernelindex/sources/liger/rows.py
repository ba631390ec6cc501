"""Bytes of the CSV -> records by column name, one outcome for every record and blank line.

Quoted fields may hold commas and line ends. A record that cannot be read (encoding, length,
quotes, field count) is counted under its reason; only a file without the upstream's header
is refused as a whole.
"""

from __future__ import annotations

import csv
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.errors import SourceError
from kernelindex.sources.streams import Limits, Line, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["COLUMNS", "BadRecord", "Record", "read_records"]

COLUMNS = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "metric_name",
    "metric_unit",
    "x_name",
    "x_label",
    "x_value",
    "y_value_50",
    "y_value_20",
    "y_value_80",
    "extra_benchmark_config_str",
    "gpu_name",
    "timestamp",
    "liger_version",
)

LIMITS = Limits(line_bytes=64 << 10, total_bytes=4 << 30)
"""Upstream's longest line is about 400 bytes, and a million rows are 300 MB."""

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its texts by column, and the line it begins on."""

    line: int
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A line or record that is no row."""

    line: int
    reason: str
    detail: str = ""


def read_records(source: Path | bytes) -> Iterator[Record | BadRecord]:
    """Every record after the header, and every blank line.

    Raises ``SourceError`` ``source.header`` where the first record lacks a column, and what
    reading the bytes raises.
    """
    feed = _Feed(lines(source, LIMITS))
    reader = csv.reader(feed, strict=True)
    header: tuple[str, ...] | None = None
    while True:
        start = feed.line + 1
        try:
            values = next(reader)
        except StopIteration:
            yield from feed.take_bad()
            break
        except csv.Error as problem:
            yield from feed.take_bad()
            yield BadRecord(start, "malformed_row", str(problem))
            continue
        bad = feed.take_bad()
        yield from bad
        if header is None:
            header = _read_header(values)
        else:
            yield _outcome(start + len(bad), header, values)
    if header is None:
        raise _no_header([], "no text in UTF-8" if feed.line else "nothing")


class _Feed:
    """Decoded lines for the CSV reader; lines that are none are set aside with a reason."""

    def __init__(self, source: Iterator[Line]) -> None:
        self._source = source
        self._bad: deque[BadRecord] = deque()
        self.line = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in self._source:
            self.line = line.number
            text = self._decode(line)
            if text is not None:
                return text
        raise StopIteration

    def take_bad(self) -> list[BadRecord]:
        taken = list(self._bad)
        self._bad.clear()
        return taken

    def _decode(self, line: Line) -> str | None:
        if line.data is None:
            self._bad.append(BadRecord(line.number, "row_too_long", f"{line.size_bytes} bytes"))
            return None
        try:
            text = line.data.decode()
        except UnicodeDecodeError as problem:
            self._bad.append(BadRecord(line.number, "not_utf8", problem.reason))
            return None
        return (text.removeprefix(_BOM) if line.number == 1 else text).removesuffix("\r") + "\n"


def _read_header(values: list[str]) -> tuple[str, ...]:
    names = [value.strip() for value in values]
    if any(names.count(name) != 1 for name in COLUMNS):
        raise _no_header(names, ", ".join(names)[:200] or "nothing")
    return tuple(names)


def _no_header(names: list[str], seen: str) -> SourceError:
    lacking = [name for name in COLUMNS if names.count(name) != 1]
    return SourceError(
        f"first line has {seen}; wanted each Liger column once (not so: {', '.join(lacking)}); "
        "is this one of Liger-Kernel's benchmark/data CSVs?",
        code="source.header",
        missing=lacking,
    )


def _outcome(line: int, header: tuple[str, ...], values: list[str]) -> Record | BadRecord:
    if not any(value.strip() for value in values):
        return BadRecord(line, "blank_row")
    if len(values) != len(header):
        return BadRecord(line, "ragged_row", f"{len(values)} fields, the header has {len(header)}")
    if tuple(values) == header:
        return BadRecord(line, "repeated_header")
    return Record(line, dict(zip(header, values, strict=True)))
