"""Request bodies: bounded while they are read, then parsed strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError
from kernelindex.manifests import canonical

if TYPE_CHECKING:
    from starlette.requests import Request

QUESTION_BYTES = 64 * 1024
BATCH_BYTES = 512 * 1024
JSON_TYPES = frozenset({"application/json", "text/json"})


async def read_json(request: Request, limit: int) -> Any:
    """The strictly parsed JSON of a body of at most ``limit`` bytes.

    Raises RequestError ``request.media_type``, ``request.body_too_large``; CanonicalError.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in JSON_TYPES:
        raise RequestError(
            f"The body is of type {kind or 'nothing'}; wanted application/json",
            code="request.media_type",
        )
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity"}:
        raise RequestError(
            f"The body is encoded as {encoding[:40]}; wanted JSON as it is, in UTF-8",
            code="request.media_type",
        )
    return canonical.loads(await read_bytes(request, limit))


async def read_bytes(request: Request, limit: int) -> bytes:
    """A body, refused as soon as it is known to be larger than ``limit`` bytes."""
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > limit:
        raise _too_large(stated, limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise _too_large(f"{size} or more", limit)
        parts.append(part)
    return b"".join(parts)


def _too_large(seen: str, limit: int) -> RequestError:
    return RequestError(
        f"The body has {seen} bytes; at most {limit} are taken", code="request.body_too_large"
    )
