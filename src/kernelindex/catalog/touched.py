"""What a change touches, and the tables as they will be once it is published.

Until then the new state is the published rows, plus what the import staged or wrote
ahead, minus rows whose replacement is pending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import String, insert, literal, or_, select, true, union, union_all

from kernelindex.catalog import bulk
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Subquery, Table

STAGED = truth.STAGED["manifests"]
TOUCHED = ("base_slugs", "implementations", "projects", "hardware", "operations", "shapes")
"""Lists whose touched keys are found before any list is computed, each for itself."""


def current_runs(name: str, *columns: str) -> Subquery:
    """Runs as they will be: pending rows instead of those they replace."""
    live, pending = derived.runs, derived.pending_runs
    kept = select(*(live.c[c] for c in columns)).where(
        ~select(pending.c.digest).where(pending.c.digest == live.c.digest).exists()
    )
    return union_all(kept, select(*(pending.c[c] for c in columns))).subquery(name)


def current_manifests(name: str, *columns: str) -> Subquery:
    """Manifests as they will be: of two editions the newer."""
    from kernelindex.catalog.rederiving import is_newer_edition

    old, new = truth.manifests, STAGED
    newer = select(new.c.digest).where(new.c.digest == old.c.digest, is_newer_edition(new, old))
    older = select(old.c.digest).where(old.c.digest == new.c.digest, ~is_newer_edition(new, old))
    kept = select(*(old.c[c] for c in columns)).where(~newer.exists())
    added = select(*(new.c[c] for c in columns)).where(~older.exists())
    return union_all(kept, added).subquery(name)


class Touched:
    """The keys of each list that must be computed again.

    ``work_keys`` holds them by list; with ``everything`` all keys there are.
    """

    def __init__(self, conn: Connection, *, everything: bool) -> None:
        self._conn = conn
        self.everything = everything

    def find(self, listing: str) -> None:
        """Fill ``work_keys`` of a list from what is staged, written ahead and pending."""
        keys = self._queries()[listing].subquery("keys_of")
        self.add_from(listing, next(iter(keys.c)))

    def _queries(self) -> dict[str, Any]:
        runs, manifests = self._touched_runs(), self._touched_manifests
        implementations = union(
            *manifests("digest", "ImplementationRevision"), select(runs.c.implementation_digest)
        )
        old = derived.implementations
        return {
            "base_slugs": union(*manifests("base_slug")),
            "implementations": implementations,
            "projects": union(
                *manifests("base_slug", "SoftwareProject"),
                select(runs.c.project),
                select(truth.STAGED["project_links"].c.project),
                select(old.c.project).where(old.c.digest.in_(implementations)),
            ),
            "hardware": select(runs.c.hardware).distinct(),
            "operations": union(select(runs.c.operation), self._operations_of_staged_aliases()),
            "shapes": select(runs.c.shape_key).distinct(),
        }

    def _touched_runs(self) -> Subquery:
        """Rows of runs that are new or replaced, as they were and as they will be."""
        live, pending = derived.runs, derived.pending_runs
        names = ("implementation_digest", "project", "hardware", "operation", "shape_key")
        old = select(*(live.c[n] for n in names))
        if not self.everything:
            published = select(truth.manifests.c.digest).where(
                truth.manifests.c.digest == live.c.digest
            )
            staged = select(STAGED.c.digest).where(STAGED.c.digest == live.c.digest)
            replaced = select(pending.c.digest).where(pending.c.digest == live.c.digest)
            old = old.where(or_(staged.exists() & ~published.exists(), replaced.exists()))
        return union_all(old, select(*(pending.c[n] for n in names))).subquery("touched_runs")

    def _touched_manifests(self, column: str, kind: str | None = None) -> list[Any]:
        tables = [STAGED, *([truth.manifests] if self.everything else [])]
        return [select(t.c[column]).where(t.c.kind == kind if kind else true()) for t in tables]

    def _operations_of_staged_aliases(self) -> Any:
        specs, aliases = derived.operation_specs, truth.STAGED["aliases"]
        return select(specs.c.slug).where(specs.c.digest.in_(select(aliases.c.digest)))

    def keys(self, listing: str) -> list[str]:
        """The touched keys of a list, in order."""
        keys = derived.work_keys
        query = select(keys.c.key).where(keys.c.listing == listing).order_by(keys.c.key)
        return list(self._conn.execute(query).scalars())

    def is_touched(self, listing: str, column: Any) -> Any:
        """The condition that a column holds one of a list's touched keys."""
        keys = derived.work_keys
        return column.in_(select(keys.c.key).where(keys.c.listing == listing))

    def add_keys(self, table: Table, keys: Sequence[str]) -> None:
        """Have publishing replace these keys of a list."""
        bulk.insert_rows(self._conn, derived.work_keys, [(table.name, key) for key in keys])

    def add_from(self, listing: str, column: Any) -> None:
        """Add the values of a column to a list's touched keys."""
        keys = derived.work_keys
        held = select(keys.c.key).where(keys.c.listing == listing, keys.c.key == column)
        rows = select(literal(listing, String()), column).where(column.is_not(None), ~held.exists())
        self._conn.execute(insert(keys).from_select(["listing", "key"], rows.distinct()))

    def replace_rows(self, table: Table, key: str) -> None:
        """Have publishing replace the keys that the list's twin now holds."""
        self.add_from(table.name, derived.LISTINGS[table].c[key])

    def current(self, table: Table, *columns: str, key: str | None = None) -> Subquery:
        """A list as it will be: its twin's rows instead of the touched ones."""
        twin = derived.LISTINGS[table]
        by = key or next(iter(table.primary_key.columns)).name
        keys = derived.work_keys
        replaced = select(keys.c.key).where(keys.c.listing == table.name, keys.c.key == table.c[by])
        kept = select(*(table.c[c] for c in columns)).where(~replaced.exists())
        return union_all(kept, select(*(twin.c[c] for c in columns))).subquery(f"{table.name}_now")

    def facts_of(self, digests: Sequence[str]) -> dict[str, bytes]:
        """The facts of some runs, as packed, pending ones first."""
        found: dict[str, bytes] = {}
        for table in (derived.run_facts, derived.pending_facts):
            for part in bulk.chunks(list(digests), bulk.IN_CHUNK):
                query = select(table.c.digest, table.c.facts).where(table.c.digest.in_(part))
                found.update({row.digest: row.facts for row in self._conn.execute(query)})
        return found
