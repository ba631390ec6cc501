"""Bodies as stored: canonical text in, manifests out.

A body is the RFC 8785 text of ``{apiVersion, kind, spec}``, so its SHA-256 is the
manifest's digest. It was validated when it came in and is not validated again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

import orjson
from sqlalchemy import bindparam, select, union_all

from kernelindex.catalog.bulk import IN_CHUNK, chunks
from kernelindex.catalog.tables import truth
from kernelindex.manifests import Manifest, canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection


def body_of(manifest: Manifest) -> str:
    """The canonical text that the manifest's digest is over.

    Plain sorted JSON is tried first: where its SHA-256 is the digest it is that text.
    """
    document = manifest.document
    claimed = {key: document[key] for key in ("apiVersion", "kind", "spec")}
    plain = orjson.dumps(claimed, option=orjson.OPT_SORT_KEYS)
    if hashlib.sha256(plain).hexdigest() == manifest.digest[7:]:
        return plain.decode()
    return canonical.dumps(claimed).decode()


def read_body(text: str) -> dict[str, Any]:
    """The object of a stored body."""
    return cast("dict[str, Any]", canonical.reread(text))


def build_manifest(digest: str, body: str, metadata: str) -> Manifest:
    """A manifest from its stored parts, without validating it again."""
    claimed = read_body(body)
    document = {
        "apiVersion": claimed["apiVersion"],
        "kind": claimed["kind"],
        "metadata": orjson.loads(metadata),
        "spec": claimed["spec"],
    }
    return Manifest(
        api_version=document["apiVersion"],
        kind=document["kind"],
        digest=digest,
        document=document,
    )


def load_manifests(
    conn: Connection, digests: Sequence[str], *, staged: bool = False
) -> list[Manifest]:
    """The stored manifests of some digests, in no order; those not here are left out.

    ``staged`` also sees what an import has not published. Of several editions of a
    manifest's metadata the newest is taken, as publishing will.
    """
    tables = [truth.manifests, *([truth.STAGED["manifests"]] if staged else [])]
    wanted: Any = bindparam("digests", expanding=True)
    bodies = truth.bodies
    query = union_all(
        *(
            select(table.c.digest, table.c.stamp, table.c.metadata, bodies.c.body)
            .join(bodies, bodies.c.digest == table.c.digest)
            .where(table.c.digest.in_(wanted))
            for table in tables
        )
    )
    editions: dict[str, tuple[str, str, str]] = {}
    for part in chunks(digests, IN_CHUNK):
        for digest, *edition in conn.execute(query, {"digests": part}):
            editions[digest] = max(editions.get(digest, ("", "", "")), tuple(edition))
    return [
        build_manifest(digest, body, metadata) for digest, (_, metadata, body) in editions.items()
    ]
