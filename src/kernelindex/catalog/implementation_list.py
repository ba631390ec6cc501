"""Rows of the list of implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import truth
from kernelindex.catalog.touched import current_manifests, current_runs

if TYPE_CHECKING:
    from sqlalchemy import Connection


KIND = "ImplementationRevision"


def implementation_rows(conn: Connection, digests: list[str]) -> list[tuple[Any, ...]]:
    """Title, project, operation, line, language and run count of each implementation.

    Project and line are those of its runs; without runs, the project it is linked to.
    """
    table = current_manifests("listed", "digest", "kind", "title")
    query = (
        select(table.c.digest, table.c.title, truth.bodies.c.body)
        .join(truth.bodies, truth.bodies.c.digest == table.c.digest)
        .where(table.c.kind == KIND, table.c.digest.in_(digests))
        .order_by(table.c.digest)
    )
    of_runs, linked = _of_runs(conn, digests), _linked(conn, digests)
    rows = []
    specs = {
        digest: (title, read_body(body)["spec"]) for digest, title, body in conn.execute(query)
    }
    slugs = _operation_slugs(conn, [spec["operation"]["specDigest"] for _, spec in specs.values()])
    for digest, (title, spec) in specs.items():
        operation = spec["operation"]["specDigest"]
        project, line, count = of_runs.get(digest, (linked.get(digest, ""), "", 0))
        language = spec["callable"]["language"]
        slug = slugs.get(operation, operation)
        rows.append((digest, title, project, slug, line, language, count))
    return rows


def _of_runs(conn: Connection, digests: list[str]) -> dict[str, tuple[str, str, int]]:
    runs = current_runs("of_implementation", "implementation_digest", "project", "line_id")
    key = runs.c.implementation_digest
    query = (
        select(key, func.min(runs.c.project), func.min(runs.c.line_id), func.count())
        .where(key.in_(digests))
        .group_by(key)
    )
    return {digest: (project, line, count) for digest, project, line, count in conn.execute(query)}


def _linked(conn: Connection, digests: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in (truth.project_links, truth.STAGED["project_links"]):
        key = table.c.implementation_digest
        query = select(key, func.min(table.c.project)).where(key.in_(digests)).group_by(key)
        for digest, project in conn.execute(query):
            found[digest] = min(found.get(digest, project), project)
    return found


def _operation_slugs(conn: Connection, digests: list[str]) -> dict[str, str]:
    from kernelindex.registry.equivalence import map_operation

    table = current_manifests("operations_of", "digest", "name")
    query = select(table.c.digest, table.c.name).where(table.c.digest.in_(sorted(set(digests))))
    found = {}
    for digest, name in conn.execute(query):
        mapping = map_operation(digest, name)
        found[digest] = mapping.slug if mapping else digest
    return found
