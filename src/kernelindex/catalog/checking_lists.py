"""Whether names, facets and the search hold what they must: a lost row is seen by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, union_all

from kernelindex.catalog import search_index
from kernelindex.catalog.search_documents import HARDWARE, IMPLEMENTATION, OPERATION, PROJECT
from kernelindex.catalog.tables import derived, truth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

NAMES, DOCUMENTS = derived.names, derived.search_documents


def faults_of_lists(conn: Connection) -> Iterator[tuple[str, str]]:
    """What is wrong and where, for every list and what searches them."""
    for (digest,) in conn.execute(_unnamed()):
        yield digest, "names has no row for it"
    for table, query in _unlisted():
        for (key,) in conn.execute(query):
            yield key, f"{table} has no row for it"
    for (key,) in conn.execute(_unsearched()):
        yield key, "search_documents has no row for it"
    for key in search_index.lost_documents(conn):
        yield key, f"{search_index.INDEX} does not find it by its words"
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


def _unlisted() -> Iterator[tuple[str, Any]]:
    """For each list, keys of what manifests and published runs hold and it does not."""
    runs, manifests, specs = derived.runs, truth.manifests, derived.operation_specs
    implementations, projects = derived.implementations, derived.projects
    of_kind = manifests.c.kind
    published = select(manifests.c.digest).where(manifests.c.digest == runs.c.digest).exists()
    for listed, named, where in (
        (specs.c.digest, manifests.c.digest, of_kind == "OperationSpec"),
        (derived.operations.c.slug, specs.c.slug, specs.c.slug.is_not(None)),
        (derived.operations.c.slug, runs.c.operation, published),
        (implementations.c.digest, manifests.c.digest, of_kind == "ImplementationRevision"),
        (projects.c.slug, manifests.c.base_slug, of_kind == "SoftwareProject"),
        (projects.c.slug, runs.c.project, published),
        (derived.hardware.c.id, runs.c.hardware, published),
        (derived.shapes.c.shape_key, runs.c.shape_key, published),
    ):
        there = select(listed).where(listed == named)
        query = select(named).where(where, ~there.exists()).distinct().order_by(named)
        yield listed.table.name, query


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
