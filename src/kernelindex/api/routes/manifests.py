"""Manifests by digest: the very bytes that the digest is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.identifiers import PATH_CODES, ident_of
from kernelindex.api.parameters import read_query
from kernelindex.api.replies import IMMUTABLE, is_known, not_modified, reply_bytes
from kernelindex.errors import NotFoundError
from kernelindex.ids import is_digest
from kernelindex.manifests import canonical

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

CLAIMED = ("apiVersion", "kind", "spec")
MANIFEST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["apiVersion", "kind", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {"type": "object", "description": "see `/schemas` for each kind"},
    },
}


def manifest(catalog: Catalog, request: Request) -> Response:
    """The canonical JSON (RFC 8785) of apiVersion, kind and spec; its SHA-256 is the digest.

    It can never change, so it may be kept for ever.
    """
    read_query(request, ())
    ident = ident_of(request)
    tag = f'"{ident}"'
    if is_digest(ident) and is_known(request, tag) and request.headers["if-none-match"] != "*":
        return not_modified(tag, IMMUTABLE)
    stored = catalog.manifest(ident) if is_digest(ident) else None
    if stored is None:
        raise NotFoundError(
            f"no manifest has the digest {ident!r} here; give sha256: and all 64 digits",
            code="manifest.not_found",
        )
    body = canonical.dumps({name: stored.document[name] for name in CLAIMED})
    return reply_bytes(request, body, etag=stored.digest, cache=IMMUTABLE)


ENDPOINTS = (
    Endpoint(
        path="/manifests/{ident}",
        name="show_manifest",
        summary="Any manifest by its digest, as the bytes that the digest is over",
        tag="objects",
        handler=manifest,
        inside={"ident": ("full digest of a manifest", examples.RUN_DIGEST)},
        schema=MANIFEST_SCHEMA,
        codes=(*PATH_CODES, "manifest.not_found"),
    ),
)
