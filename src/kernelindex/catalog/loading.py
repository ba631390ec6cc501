"""Importing an export of another catalog: the same truth, derived again here."""

from __future__ import annotations

import base64
import io
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import select

from kernelindex.catalog import bulk
from kernelindex.catalog.exporting import FORMAT
from kernelindex.catalog.importing import (
    Brought,
    begin_change,
    clean_up,
    derive_and_publish,
    discard_unfinished,
    reach,
)
from kernelindex.catalog.locking import import_lock
from kernelindex.catalog.row_tuples import manifest_row, text_digest
from kernelindex.catalog.run_reading import RunReader
from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import truth
from kernelindex.errors import CatalogError
from kernelindex.manifests import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from kernelindex.catalog.database import Database

ROWS_AT_ONCE = 2_000
WRITTEN_AHEAD = (truth.bodies.name, truth.artifact_bodies.name)
MAX_LINE = 64 << 20
LOADABLE = {table.name: table for table in (*truth.EXPORTED, *truth.COMMUNITY)}
"""Never keys or sessions: a file must not be able to let anybody in."""


def load_export(
    catalog: Database, path: Path, *, progress: Callable[[int], None] | None = None
) -> dict[str, int]:
    """Add everything an export (``*.jsonl.zst``) holds; returns its rows by table.

    Like an import it is published at once and may be repeated.

    Raises:
        CatalogError: ``catalog.export`` for a file that is no export of a catalog, or
            holds a body that does not hash to its digest.
        ManifestError: for a manifest that its kind refuses.
    """
    with import_lock(catalog):
        discard_unfinished(catalog)
        change = begin_change(catalog, "load", path.name, "")
        counts: Counter[str] = Counter()
        kept: dict[str, list[tuple[Any, ...]]] = {}
        for batch in bulk.batches(_rows(path), ROWS_AT_ONCE):
            _stage(catalog, change, batch, kept)
            counts.update(table for table, _ in batch)
            if progress is not None:
                progress(sum(counts.values()))
        reach("staged")
        derive_and_publish(catalog, change, _brought(kept), RunReader())
        clean_up(catalog)
    return dict(counts)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import zstandard

    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        try:
            buffered = io.BufferedReader(reader, 1 << 20)
            lines = iter(lambda: buffered.readline(MAX_LINE), b"")
            head = orjson.loads(next(lines, b"null"))
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise _refusal(path, f"its first line is not {{'format': '{FORMAT}'}}")
            for line in lines:
                if len(line) >= MAX_LINE:
                    raise _refusal(path, f"a line is longer than {MAX_LINE} bytes")
                entry = orjson.loads(line)
                yield entry["table"], entry["row"]
        except (zstandard.ZstdError, orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise _refusal(path, str(error)) from error


def _refusal(path: Path, why: str) -> CatalogError:
    return CatalogError(f"{path} is no export of a catalog: {why}", code="catalog.export")


def _stage(
    catalog: Database,
    change: int,
    batch: list[tuple[str, dict[str, Any]]],
    kept: dict[str, list[tuple[Any, ...]]],
) -> None:
    """Bodies go ahead, index rows to their staged twins, the small rest is kept."""
    ahead: dict[str, list[tuple[Any, ...]]] = {name: [] for name in WRITTEN_AHEAD}
    staged: dict[str, list[tuple[Any, ...]]] = {name: [] for name in truth.STAGED}
    for name, row in batch:
        values = _values(name, row)
        if name in ahead:
            _verify(values)
            ahead[name].append(values)
        elif name in staged:
            staged[name].append((change, *values))
        else:
            kept.setdefault(name, []).append(values)
    with catalog.writing() as conn:
        for name, rows in ahead.items():
            bulk.insert_rows(conn, truth.metadata.tables[name], rows)
        staged["manifests"] = _validated(conn, staged["manifests"])
        for name, rows in staged.items():
            bulk.insert_rows(conn, truth.STAGED[name], rows)


def _values(name: str, row: dict[str, Any]) -> tuple[Any, ...]:
    """A row in the order of its table's columns; tables that no export holds are refused."""
    table = LOADABLE.get(name)
    if table is None:
        raise CatalogError(f"An export does not hold a table {name!r}", code="catalog.export")
    columns = [column.name for column in table.columns]
    if row.keys() != set(columns):
        raise CatalogError(
            f"A row of {name} has {sorted(row)}; wanted {sorted(columns)}", code="catalog.export"
        )
    return tuple(_value(column, row[column.name]) for column in table.columns)


def _validated(conn: Connection, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Manifest rows made anew from their validated manifests; only the stamp is taken over."""
    bodies, table = {}, truth.bodies
    for part in bulk.chunks([row[1] for row in rows], bulk.IN_CHUNK):
        query = select(table.c.digest, table.c.body).where(table.c.digest.in_(part))
        bodies.update({row.digest: row.body for row in conn.execute(query)})
    made = []
    for change, digest, *_, metadata, stamp in rows:
        if digest not in bodies:
            raise CatalogError(f"Manifest {digest} comes without its body", code="catalog.export")
        document = {**read_body(bodies[digest]), "metadata": orjson.loads(metadata)}
        manifest = parse(document)
        if manifest.digest != digest:
            raise CatalogError(
                f"The manifest under {digest} has digest {manifest.digest}", code="catalog.export"
            )
        made.append((change, *manifest_row(manifest, stamp)))
    return made


def _value(column: Any, value: Any) -> Any:
    if value is not None and column.type.python_type is bytes:
        return base64.b64decode(value)
    return value


def _verify(values: tuple[Any, ...]) -> None:
    """A body must hash to the digest it comes under: nothing else vouches for it."""
    digest, body = values
    if text_digest(body) != digest:
        raise CatalogError(
            f"The body under {digest} hashes to {text_digest(body)}", code="catalog.export"
        )


def _brought(kept: dict[str, list[tuple[Any, ...]]]) -> Brought:
    fetched: dict[str, str] = {}
    for _, digest, _, _, _, at, _ in kept.get(truth.snapshots.name, []):
        fetched[digest] = max(fetched.get(digest, ""), at[:10])
    newest: dict[str, str] = {}
    for source, digest in kept.get(truth.coverage.name, []):
        newest[source] = max(newest.get(source, ""), fetched.get(digest, ""))
    tables = {truth.metadata.tables[name]: rows for name, rows in kept.items()}
    return Brought(newest=newest, rows=tables)
