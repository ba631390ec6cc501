"""Artifacts by digest: samples, calibrations, signed bundles, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.identifiers import PATH_CODES, ident_of
from kernelindex.api.parameters import read_query
from kernelindex.api.replies import IMMUTABLE, is_known, not_modified, reply_bytes
from kernelindex.errors import NotFoundError
from kernelindex.ids import is_digest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
BINARY = "application/octet-stream"
ENDINGS = {
    "application/json": ".json",
    "application/gzip": ".json.gz",
    "application/vnd.kernelindex.evidence+zip": ".evidence.zip",
}


def artifact(catalog: Catalog, request: Request) -> Response:
    """The bytes whose SHA-256 is the digest, as a file to keep.

    A run names its samples and its batch's calibration; its evidence names the signed
    bundle, which `ki evidence verify` checks offline. They never change.
    """
    read_query(request, ())
    ident = ident_of(request)
    tag = f'"{ident}"'
    if is_digest(ident) and is_known(request, tag) and request.headers["if-none-match"] != "*":
        return not_modified(tag, IMMUTABLE)
    found = catalog.artifact(ident) if is_digest(ident) else None
    if found is None:
        raise NotFoundError(
            f"no artifact has the digest {ident!r} here; give sha256: and all 64 digits",
            code="artifact.not_found",
        )
    response = reply_bytes(
        request, found.body, etag=found.digest, media_type=BINARY, cache=IMMUTABLE
    )
    name = f"{found.digest[7:19]}{ENDINGS.get(found.media_type, '.bin')}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


ENDPOINTS = (
    Endpoint(
        path="/artifacts/{ident}",
        name="show_artifact",
        summary="Samples, calibrations and signed bundles by their digest",
        tag="objects",
        handler=artifact,
        inside={"ident": ("full digest of an artifact", examples.RUN_DIGEST)},
        schema=BYTES,
        media_type=BINARY,
        codes=(*PATH_CODES, "artifact.not_found"),
        slow=True,
    ),
)
