"""Reads by identifier: what it names, and the manifest behind a digest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import and_, bindparam, literal_column, select, union_all

from kernelindex.catalog.database import Database
from kernelindex.catalog.prepared import Prepared
from kernelindex.catalog.rows import Found, StoredManifest
from kernelindex.catalog.stored import read_body
from kernelindex.catalog.tables import derived, truth
from kernelindex.ids import parse_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

MOST_MATCHES = 50
SUFFIXED = re.compile(r"(?P<base>.+)-(?P<hex>[0-9a-f]{8})")
MANIFESTS, NAMES = truth.manifests, derived.names


class LookupReads(Database):
    """Finds objects by alias, slug or digest."""

    def find(self, ident: str, *kinds: str) -> list[Found]:
        """Everything an identifier names: by exact alias, else slug, else digest prefix.

        A name that several objects share finds them all (``via`` is ``name``). Of some kinds:
        what it names of each, one after the other.
        """
        with self.reading() as conn:
            rows = _by_any_name(conn, ident, kinds)
            if not kinds:
                return _best_found(conn, rows, ident)
            return [
                one
                for kind in kinds
                for one in _best_found(conn, [r for r in rows if r.kind == kind], ident, kind)
            ]

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
        with self.reading() as conn:
            return documents_of(DOCUMENTS.rows(conn, digests=sorted(set(digests))))


DOCUMENTS = Prepared(
    select(MANIFESTS.c.digest, MANIFESTS.c.metadata, truth.bodies.c.body)
    .join(truth.bodies, truth.bodies.c.digest == MANIFESTS.c.digest)
    .where(MANIFESTS.c.digest.in_(bindparam("digests", expanding=True)))
)


def sources_of(conn: Connection, digest: str) -> tuple[str, ...]:
    """The sources that tell of a run."""
    told = truth.observations
    query = select(told.c.source).where(told.c.run_digest == digest).distinct()
    return tuple(sorted(conn.execute(query).scalars()))


ALIASES_QUERY = Prepared(
    select(truth.aliases.c.alias).where(truth.aliases.c.digest == bindparam("digest"))
)


def aliases_of(conn: Connection, digest: str) -> tuple[str, ...]:
    """The foreign identifiers of an object."""
    return distinct_aliases(ALIASES_QUERY.rows(conn, digest=digest))


def distinct_aliases(rows: Iterable[Any]) -> tuple[str, ...]:
    """The aliases in rows of ``ALIASES_QUERY``: several sources may have told the same."""
    return tuple(sorted({row.alias for row in rows}))


def documents_of(rows: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """The manifests in rows of ``DOCUMENTS`` by their digests."""
    return {row.digest: _document(row) for row in rows}


def _document(row: Any) -> dict[str, Any]:
    claimed = read_body(row.body)
    return {
        "apiVersion": claimed["apiVersion"],
        "kind": claimed["kind"],
        "metadata": orjson.loads(row.metadata),
        "spec": claimed["spec"],
    }


def _named(via: str, *conditions: Any) -> Any:
    """A statement of what meets the conditions."""
    return (
        select(MANIFESTS.c.kind, MANIFESTS.c.digest, MANIFESTS.c.title, NAMES.c.slug)
        .add_columns(MANIFESTS.c.stamp, literal_column(f"'{via}'").label("via"))
        .join(NAMES, NAMES.c.digest == MANIFESTS.c.digest, isouter=True)
        .where(*conditions)
        .order_by(MANIFESTS.c.kind, MANIFESTS.c.digest)
        .limit(MOST_MATCHES)
    )


_IDENT: Any = bindparam("ident")
_ALIASED = select(truth.aliases.c.digest).where(truth.aliases.c.alias == _IDENT)
_BETWEEN = (MANIFESTS.c.digest >= bindparam("start"), MANIFESTS.c.digest < bindparam("end"))
OF_KINDS = MANIFESTS.c.kind.in_(bindparam("kinds", expanding=True))


def _any_name(*of_kinds: Any) -> Prepared:
    """What is found in each way: a list of kinds of its own text, for a better plan."""
    ways = (
        ("alias", MANIFESTS.c.digest.in_(_ALIASED)),
        ("slug", NAMES.c.slug == _IDENT),
        ("name", MANIFESTS.c.base_slug == _IDENT),
        ("digest", and_(*_BETWEEN)),
    )
    return Prepared(
        union_all(*(select(_named(via, way, *of_kinds).subquery()) for via, way in ways))
    )


BY_ANY_NAME, BY_ANY_NAME_OF_KINDS = _any_name(), _any_name(OF_KINDS)
BY_FORMER_NAME = _named("slug", MANIFESTS.c.base_slug == _IDENT, *_BETWEEN)
NO_DIGEST = "-"


def _by_any_name(conn: Connection, ident: str, kinds: Sequence[str]) -> list[Any]:
    values = {"ident": ident, **_range_of(parse_prefix(ident) or NO_DIGEST)}
    if not kinds:
        return BY_ANY_NAME.rows(conn, **values)
    return BY_ANY_NAME_OF_KINDS.rows(conn, kinds=list(kinds), **values)


def _best_found(
    conn: Connection, rows: Sequence[Any], ident: str, kind: str | None = None
) -> list[Found]:
    """What was found in the best of the ways that found something."""
    for via in ("alias", "slug", "name"):
        found = _found((row for row in rows if row.via == via), via)
        if found:
            return found
    return _by_former_name(conn, ident, kind) or _found(rows, "digest")


def _found(rows: Iterable[Any], via: str) -> list[Found]:
    """The rows that were found in one way, by kind and digest; of a project its newest edition."""
    kept = sorted(rows, key=lambda row: (row.kind, row.digest))
    if via == "slug":
        projects = [row for row in kept if row.kind == "SoftwareProject"]
        newest = max(projects, key=lambda row: (row.stamp, row.digest), default=None)
        kept = [row for row in kept if row.kind != "SoftwareProject" or row is newest]
    return [
        Found(kind=row.kind, digest=row.digest, title=row.title, slug=row.slug, via=via)
        for row in kept
    ]


def _by_former_name(conn: Connection, ident: str, kind: str | None) -> list[Found]:
    """By a name that several share with the digest that it had once behind it."""
    parts = SUFFIXED.fullmatch(ident)
    if parts is None:
        return []
    values = {"ident": parts["base"], **_range_of(parts["hex"])}
    query = BY_FORMER_NAME if kind is None else BY_FORMER_NAME.where(MANIFESTS.c.kind == kind)
    return _found(conn.execute(query, values), "slug")


def _range_of(prefix: str) -> dict[str, str]:
    """The digests that begin with some hex digits: from ``start``, before ``end``."""
    start = f"sha256:{prefix}"
    return {"start": start, "end": f"{start}g"}
