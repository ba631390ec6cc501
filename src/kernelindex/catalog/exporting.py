"""Exports: the truth as JSON lines (zstandard) or Parquet, the same bytes every time.

The JSON form is complete: importing it elsewhere gives the same catalog. It begins with
a line that names the format; no line holds the time or place of the export.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.catalog.dumping import dump_line, dump_truth
from kernelindex.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kernelindex.catalog.database import Database

FORMAT = "kernelindex-catalog/1"
LEVEL = 6
PARQUET_ROWS = 20_000
SUFFIX = ".jsonl.zst"


def export_to(catalog: Database, path: Path, *, community: bool = False) -> str:
    """Write everything: to a file ``*.jsonl.zst``, or Parquet files into a folder.

    Returns the digest of the exported rows, which is equal for equal catalogs. What
    people wrote (attestations, reports) is only exported with ``community``.

    Raises:
        CatalogError: ``catalog.export`` for another file name, or without pyarrow.
    """
    if path.name.endswith(SUFFIX):
        path.parent.mkdir(parents=True, exist_ok=True)
        return _export_lines(catalog, path, community=community)
    if path.suffix and not path.is_dir():
        raise CatalogError(
            f"Cannot tell the format of {path}; wanted a name ending in {SUFFIX}, or a folder "
            "for Parquet",
            code="catalog.export",
        )
    path.mkdir(parents=True, exist_ok=True)
    return _export_parquet(catalog, path, community=community)


def export_digest(catalog: Database, *, community: bool = False) -> str:
    """The digest that an export of this catalog has."""
    with catalog.reading_long() as conn:
        total = hashlib.sha256()
        for table, row in dump_truth(conn, community=community):
            total.update(dump_line(table, row))
    return f"sha256:{total.hexdigest()}"


def _export_lines(catalog: Database, path: Path, *, community: bool) -> str:
    import zstandard

    total = hashlib.sha256()
    partial = path.with_name(path.name + ".part")
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    with (
        catalog.reading_long() as conn,
        partial.open("wb") as file,
        compressor.stream_writer(file, closefd=False) as out,
    ):
        out.write(orjson.dumps({"format": FORMAT}) + b"\n")
        for table, row in dump_truth(conn, community=community):
            line = dump_line(table, row)
            total.update(line)
            out.write(line)
    partial.replace(path)
    return f"sha256:{total.hexdigest()}"


def _export_parquet(catalog: Database, folder: Path, *, community: bool) -> str:
    try:
        import pyarrow
    except ImportError:
        raise CatalogError(
            "Parquet needs pyarrow: pip install 'kernelindex[parquet]', or export to "
            f"a file ending in {SUFFIX}",
            code="catalog.export",
        ) from None
    total = hashlib.sha256()
    with catalog.reading_long() as conn:
        for table, rows in _by_table(dump_truth(conn, community=community)):
            _write_table(pyarrow, folder / f"{table}.parquet", table, rows, total)
    return f"sha256:{total.hexdigest()}"


def _by_table(
    rows: Iterable[tuple[str, dict[str, Any]]],
) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from itertools import groupby

    for table, group in groupby(rows, key=lambda pair: pair[0]):
        yield table, (row for _, row in group)


def _write_table(
    pyarrow: Any, path: Path, table: str, rows: Iterator[dict[str, Any]], total: Any
) -> None:
    from pyarrow import parquet

    from kernelindex.catalog.bulk import batches
    from kernelindex.catalog.tables import truth

    schema = _arrow_schema(pyarrow, truth.metadata.tables[table])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches(rows, PARQUET_ROWS):
            for row in batch:
                total.update(dump_line(table, row))
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))


def _arrow_schema(pyarrow: Any, table: Any) -> Any:
    """Integers as int64, everything else (bytes in base64) as text."""
    kinds = {int: pyarrow.int64(), str: pyarrow.string(), bytes: pyarrow.string()}
    return pyarrow.schema(
        [
            pyarrow.field(column.name, kinds[column.type.python_type], nullable=column.nullable)
            for column in table.columns
        ]
    )
