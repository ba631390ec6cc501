"""Ready bytes with what caches need: strong ETags, conditional requests, immutability."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from kernelindex.resolve.answer import json_bytes

if TYPE_CHECKING:
    from starlette.requests import Request

JSON = "application/json"
REVALIDATE = "public, no-cache"
"""May be kept, but must be asked for again: ranks change with every import."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""For what is named by the digest of its bytes."""


def reply(request: Request, data: Any) -> Response:
    """JSON-ready data, parts of answers as they are, or 304 where the client has these bytes."""
    return reply_bytes(request, json_bytes(data), etag=None)


def reply_bytes(
    request: Request,
    body: bytes,
    *,
    etag: str | None,
    media_type: str = JSON,
    cache: str = REVALIDATE,
) -> Response:
    """Bytes as a response; ``etag`` is a digest that names them, else theirs is taken."""
    tag = f'"{etag or digest_of(body)}"'
    if is_known(request, tag):
        return not_modified(tag, cache)
    headers = {"ETag": tag, "Cache-Control": cache}
    return Response(body, headers=headers, media_type=media_type)


def not_modified(tag: str, cache: str) -> Response:
    """304 with the tag that matched."""
    return Response(status_code=304, headers={"ETag": tag, "Cache-Control": cache})


def is_known(request: Request, tag: str) -> bool:
    """Whether If-None-Match names the tag; compared weakly, as RFC 9110 wants for GET."""
    asked = request.headers.get("if-none-match")
    if asked is None:
        return False
    return asked.strip() == "*" or tag in {
        one.strip().removeprefix("W/") for one in asked.split(",")
    }


def digest_of(body: bytes) -> str:
    """``sha256:`` of a body."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
