"""Operations under our slugs: which manifests they are, their names, and their counts."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, select

from kernelindex.catalog import bulk
from kernelindex.catalog.row_tuples import json_text
from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import derived, truth
from kernelindex.catalog.touched import current_manifests, current_runs
from kernelindex.registry.equivalence import map_operation
from kernelindex.registry.operations import load_operations

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from kernelindex.catalog.touched import Touched

OPERATION_KIND = "OperationSpec"
NO_COUNTS = (0, 0, 0, 0)
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Aliases that are ids of another index find the operation but are no name of it."""


def refresh_operations(conn: Connection, touched: Touched) -> None:
    """Map operation manifests that are new, then list every touched slug."""
    twins = derived.LISTINGS
    bulk.insert_rows(conn, twins[derived.operation_specs], _new_specs(conn, touched))
    touched.replace_rows(derived.operation_specs, "digest")
    touched.add_from("operations", _slugs_of_staged(touched).subquery("staged_slugs").c.slug)
    slugs = touched.keys("operations")
    for part in bulk.chunks(slugs, bulk.IN_CHUNK):
        rows = _operation_rows(conn, touched, list(part))
        bulk.insert_rows(conn, twins[derived.operations], rows)


def _new_specs(conn: Connection, touched: Touched) -> list[tuple[Any, ...]]:
    """Slug, family and whether mapped, of operation manifests not seen before, or of all."""
    table = truth.manifests if touched.everything else truth.STAGED["manifests"]
    specs = derived.operation_specs
    query = (
        select(table.c.digest, table.c.name, truth.bodies.c.body)
        .join(truth.bodies, truth.bodies.c.digest == table.c.digest)
        .where(table.c.kind == OPERATION_KIND)
    )
    if not touched.everything:
        seen = select(specs.c.digest).where(specs.c.digest == table.c.digest)
        query = query.where(~seen.exists())
    rows = []
    for digest, name, body in conn.execute(query):
        mapping = map_operation(digest, name)
        family = read_body(body)["spec"]["family"]
        rows.append((digest, mapping.slug if mapping else digest, family, mapping is not None))
    return rows


def _slugs_of_staged(touched: Touched) -> Any:
    """Slugs of operation manifests that are staged or not listed, or of all."""
    specs = _current_specs(touched)
    if touched.everything:
        return select(specs.c.slug)
    table, new = derived.operations, truth.STAGED["manifests"]
    listed = select(table.c.slug).where(table.c.slug == specs.c.slug)
    staged = select(new.c.digest).where(new.c.digest == specs.c.digest)
    return select(specs.c.slug).where(staged.exists() | ~listed.exists())


def _current_specs(touched: Touched) -> Any:
    return touched.current(derived.operation_specs, "digest", "slug", "family")


def _operation_rows(conn: Connection, touched: Touched, slugs: list[str]) -> list[tuple[Any, ...]]:
    counts = _counts(conn, slugs)
    specs = _specs(conn, touched, slugs)
    aliases = _aliases(conn, [digest for found in specs.values() for digest, _, _ in found])
    rows = []
    for slug in slugs:
        known, found = load_operations().get(slug), specs.get(slug, [])
        if not found and (known is None or slug not in counts):
            continue
        title = known.title if known else min(title for _, _, title in found)
        family = known.family if known else min(family for _, family, _ in found)
        digests = sorted(digest for digest, _, _ in found)
        names = {
            *(known.aliases if known else ()),
            *(name for digest in digests for name in aliases[digest]),
        }
        listed = (slug, title, family, known is not None, json_text(sorted(names)))
        rows.append((*listed, json_text(digests), *counts.get(slug, NO_COUNTS)))
    return rows


def _specs(
    conn: Connection, touched: Touched, slugs: list[str]
) -> dict[str, list[tuple[str, str, str]]]:
    """Slug -> (digest, family, title) of its manifests."""
    specs, table = _current_specs(touched), current_manifests("titled", "digest", "title")
    query = (
        select(specs.c.slug, specs.c.digest, specs.c.family, table.c.title)
        .join(table, table.c.digest == specs.c.digest)
        .where(specs.c.slug.in_(slugs))
    )
    found: dict[str, list[tuple[str, str, str]]] = {}
    for slug, digest, family, title in conn.execute(query):
        found.setdefault(slug, []).append((digest, family, title))
    return found


def _aliases(conn: Connection, digests: list[str]) -> dict[str, set[str]]:
    """What else operation manifests are called."""
    found: dict[str, set[str]] = defaultdict(set)
    for table in (truth.aliases, truth.STAGED["aliases"]):
        query = select(table.c.digest, table.c.alias).where(table.c.kind == OPERATION_KIND)
        for part in bulk.chunks(digests, bulk.IN_CHUNK):
            for digest, alias in conn.execute(query.where(table.c.digest.in_(part))):
                if not ID.fullmatch(alias):
                    found[digest].add(alias)
    return found


def _counts(conn: Connection, slugs: list[str]) -> dict[str, tuple[int, ...]]:
    columns = ("operation", "cohort_key", "entry_key", "shape_key", "implementation_digest")
    runs = current_runs("counted", *columns)
    ranked = case((runs.c.entry_key.is_not(None), runs.c.cohort_key))
    query = (
        select(
            runs.c.operation,
            func.count(),
            func.count(ranked.distinct()),
            func.count(runs.c.shape_key.distinct()),
            func.count(runs.c.implementation_digest.distinct()),
        )
        .where(runs.c.operation.in_(slugs))
        .group_by(runs.c.operation)
    )
    return {slug: tuple(counts) for slug, *counts in conn.execute(query)}
