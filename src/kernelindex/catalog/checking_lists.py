"""Whether names, facets and the search hold what they must: a lost row is seen by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, union_all

from kernelindex.catalog.search_documents import HARDWARE, IMPLEMENTATION, OPERATION, PROJECT
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

NAMES, DOCUMENTS = derived.names, derived.search_documents


def faults_of_lists(conn: Connection) -> Iterator[tuple[str, str]]:
    """What is wrong and where, for names, search documents and facets."""
    for (digest,) in conn.execute(_unnamed()):
        yield digest, "names has no row for it"
    for (key,) in conn.execute(_unsearched()):
        yield key, "search_documents has no row for it"
    expected, counted = _counts(conn)
    for facet, count in sorted(counted.items()):
        if count != expected:
            yield facet, f"facets count {count} runs of {expected}"


def _unnamed() -> Any:
    """Objects that have a name, and no slug."""
    table = truth.manifests
    named = select(NAMES.c.digest).where(NAMES.c.digest == table.c.digest)
    return (
        select(table.c.digest)
        .where(table.c.base_slug.is_not(None), ~named.exists())
        .order_by(table.c.digest)
    )


def _unsearched() -> Any:
    """Keys of what is listed, and not found by a search."""
    implementations = derived.implementations.join(
        NAMES, NAMES.c.digest == derived.implementations.c.digest
    )
    listed = union_all(
        select(literal(f"{OPERATION}:").concat(derived.operations.c.slug).label("key")),
        select(literal(f"{PROJECT}:").concat(derived.projects.c.slug)),
        select(literal(f"{HARDWARE}:").concat(derived.hardware.c.id)),
        select(literal(f"{IMPLEMENTATION}:").concat(NAMES.c.slug)).select_from(implementations),
    ).subquery("listed")
    found = select(DOCUMENTS.c.key).where(DOCUMENTS.c.key == listed.c.key)
    return select(listed.c.key).where(~found.exists()).order_by(listed.c.key)


def _counts(conn: Connection) -> tuple[int, dict[str, int]]:
    """Published runs with a derived row, and how many each facet counts that all runs have."""
    runs, manifests, facets = derived.runs, truth.manifests, derived.facets
    published = select(manifests.c.digest).where(manifests.c.digest == runs.c.digest)
    expected = conn.execute(select(func.count()).select_from(runs).where(published.exists()))
    counted = dict.fromkeys(("source", "operation", "hardware", "status"), 0)
    query = select(facets.c.facet, func.sum(facets.c.count)).group_by(facets.c.facet)
    found = {facet: int(count) for facet, count in conn.execute(query)}
    return int(expected.scalar_one()), {name: found.get(name, 0) for name in counted}
