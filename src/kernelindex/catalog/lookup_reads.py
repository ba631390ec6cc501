"""Reads by identifier: what it names, and the manifest behind a digest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import bindparam, select

from kernelindex.catalog.database import Database
from kernelindex.catalog.rows import Found, StoredManifest
from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import derived, truth
from kernelindex.ids import parse_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

MOST_MATCHES = 50
SUFFIXED = re.compile(r"(?P<base>.+)-(?P<hex>[0-9a-f]{8})")
MANIFESTS, NAMES = truth.manifests, derived.names


class LookupReads(Database):
    """Finds objects by alias, slug or digest."""

    def find(self, ident: str, kind: str | None = None) -> list[Found]:
        """Everything an identifier names: by exact alias, else slug, else digest prefix.

        A name that several objects share finds them all (``via`` is ``name``).
        """
        with self.reading() as conn:
            for look in (_by_alias, _by_slug, _by_name, _by_digest):
                found = look(conn, ident, kind)
                if found:
                    return found
        return []

    def manifest(self, digest: str) -> StoredManifest | None:
        """The manifest of a full digest, with its aliases and the sources that tell of it."""
        query = (
            select(MANIFESTS.c.kind, MANIFESTS.c.title, MANIFESTS.c.metadata)
            .add_columns(truth.bodies.c.body, NAMES.c.slug)
            .join(truth.bodies, truth.bodies.c.digest == MANIFESTS.c.digest)
            .join(NAMES, NAMES.c.digest == MANIFESTS.c.digest, isouter=True)
            .where(MANIFESTS.c.digest == digest)
        )
        with self.reading() as conn:
            row = conn.execute(query).first()
            if row is None:
                return None
            return StoredManifest(
                digest=digest,
                kind=row.kind,
                document=_document(row),
                slug=row.slug,
                title=row.title,
                sources=sources_of(conn, digest),
                aliases=aliases_of(conn, digest),
            )

    def documents(self, digests: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The stored manifests of full digests, ``{apiVersion, kind, metadata, spec}``, at once."""
        query = (
            select(MANIFESTS.c.digest, MANIFESTS.c.metadata, truth.bodies.c.body)
            .join(truth.bodies, truth.bodies.c.digest == MANIFESTS.c.digest)
            .where(MANIFESTS.c.digest.in_(sorted(set(digests))))
        )
        with self.reading() as conn:
            return {row.digest: _document(row) for row in conn.execute(query)}


def sources_of(conn: Connection, digest: str) -> tuple[str, ...]:
    """The sources that tell of a run."""
    told = truth.observations
    query = select(told.c.source).where(told.c.run_digest == digest).distinct()
    return tuple(sorted(conn.execute(query).scalars()))


ALIASES_QUERY = select(truth.aliases.c.alias).where(truth.aliases.c.digest == bindparam("digest"))


def aliases_of(conn: Connection, digest: str) -> tuple[str, ...]:
    """The foreign identifiers of an object."""
    return tuple(sorted(set(conn.execute(ALIASES_QUERY, {"digest": digest}).scalars())))


def _document(row: Any) -> dict[str, Any]:
    claimed = read_body(row.body)
    return {
        "apiVersion": claimed["apiVersion"],
        "kind": claimed["kind"],
        "metadata": orjson.loads(row.metadata),
        "spec": claimed["spec"],
    }


def _select_found(kind: str | None) -> Any:
    query = (
        select(MANIFESTS.c.kind, MANIFESTS.c.digest, MANIFESTS.c.title, NAMES.c.slug)
        .join(NAMES, NAMES.c.digest == MANIFESTS.c.digest, isouter=True)
        .order_by(MANIFESTS.c.kind, MANIFESTS.c.digest)
        .limit(MOST_MATCHES)
    )
    return query if kind is None else query.where(MANIFESTS.c.kind == kind)


def _found(conn: Connection, query: Any, via: str) -> list[Found]:
    return [
        Found(kind=row.kind, digest=row.digest, title=row.title, slug=row.slug, via=via)
        for row in conn.execute(query)
    ]


def _by_alias(conn: Connection, ident: str, kind: str | None) -> list[Found]:
    named = select(truth.aliases.c.digest).where(truth.aliases.c.alias == ident)
    return _found(conn, _select_found(kind).where(MANIFESTS.c.digest.in_(named)), "alias")


def _by_slug(conn: Connection, ident: str, kind: str | None) -> list[Found]:
    """By slug; the newest edition of a project."""
    query = _select_found(kind).where(NAMES.c.slug == ident).add_columns(MANIFESTS.c.stamp)
    rows = conn.execute(query).all()
    projects = [row for row in rows if row.kind == "SoftwareProject"]
    newest = max(projects, key=lambda row: (row.stamp, row.digest), default=None)
    return [
        Found(kind=row.kind, digest=row.digest, title=row.title, slug=row.slug, via="slug")
        for row in rows
        if row.kind != "SoftwareProject" or row is newest
    ]


def _by_name(conn: Connection, ident: str, kind: str | None) -> list[Found]:
    """By a name that several share, or by such a name with the digest that it had once."""
    found = _found(conn, _select_found(kind).where(MANIFESTS.c.base_slug == ident), "name")
    parts = SUFFIXED.fullmatch(ident)
    if found or parts is None:
        return found
    query = _select_found(kind).where(
        MANIFESTS.c.base_slug == parts["base"],
        MANIFESTS.c.digest.like(f"sha256:{parts['hex']}%"),
    )
    return _found(conn, query, "slug")


def _by_digest(conn: Connection, ident: str, kind: str | None) -> list[Found]:
    prefix = parse_prefix(ident)
    if prefix is None:
        return []
    start = prefix if prefix.startswith("sha256:") else f"sha256:{prefix}"
    query = _select_found(kind).where(MANIFESTS.c.digest >= start, MANIFESTS.c.digest < start + "g")
    return _found(conn, query, "digest")
