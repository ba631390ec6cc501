"""Whether a source row is known already: by its observation, else the first thing it brings."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select, union_all

from kernelindex.catalog import row_tuples
from kernelindex.catalog.bulk import IN_CHUNK, chunks
from kernelindex.catalog.tables import truth

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from kernelindex.catalog.intake import Row

Witness = tuple[str, tuple[Any, ...]]
"""(table, the columns that identify the row in it)."""

IDENTITY = {
    "observations": ("run_digest", "source"),
    "manifests": ("digest",),
    "aliases": ("alias", "kind", "digest", "source"),
    "artifacts": ("id",),
    "corrections": ("id",),
    "evidence_bundles": ("digest",),
    "project_links": ("implementation_digest", "project", "source"),
}
"""The first column is looked up, the others are compared."""


def witness_of(row: Row) -> Witness | None:
    """What must be in the catalog for the row to count as existing; None if it brings nothing."""
    if row.observation is not None:
        return "observations", (row.observation.run_digest, row.observation.source)
    candidates: list[Witness] = [
        *(("evidence_bundles", (one.digest,)) for one in row.bundles[:1]),
        *(("manifests", (one.digest,)) for one in row.manifests[:1]),
        *(("aliases", (a.alias, a.kind, a.digest, a.source)) for a in row.aliases[:1]),
        *(("artifacts", (row_tuples.artifact_row(a)[0],)) for a in row.artifacts[:1]),
        *(("corrections", (row_tuples.correction_row(c, "")[0],)) for c in row.corrections[:1]),
        *(
            ("project_links", (link.implementation_digest, link.project, link.source))
            for link in row.links[:1]
        ),
    ]
    return candidates[0] if candidates else None


def known_witnesses(conn: Connection, witnesses: Iterable[Witness]) -> set[Witness]:
    """Those that are published already, or staged by this import."""
    wanted: dict[str, set[Any]] = defaultdict(set)
    for table, identity in witnesses:
        wanted[table].add(identity[0])
    found: set[Witness] = set()
    for name, values in wanted.items():
        columns = IDENTITY[name]
        tables = (truth.metadata.tables[name], truth.STAGED[name])
        query = union_all(
            *(
                select(*(table.c[column] for column in columns)).where(
                    table.c[columns[0]].in_(bindparam("values", expanding=True))
                )
                for table in tables
            )
        )
        for part in chunks(list(values), IN_CHUNK):
            rows = conn.execute(query, {"values": part})
            found.update((name, tuple(row)) for row in rows)
    return found
