"""Keyset cursors, bound to the filters they were made with."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

import orjson

from kernelindex.errors import RequestError

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
MOST_NUMBER = 2**53


def encode_cursor(filters: dict[str, Any], after: tuple[Any, ...]) -> str:
    """A cursor that continues after a row, for these filters only."""
    data = orjson.dumps([_fingerprint(filters), *after])
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode_cursor(
    filters: dict[str, Any], cursor: str | None, *kinds: type
) -> tuple[Any, ...] | None:
    """The row to continue after; None at the start.

    ``kinds`` are the types of its columns: a cursor is made by us, but may be forged.

    Raises:
        RequestError: ``request.cursor`` for a cursor of other filters, or none of ours.
    """
    if cursor is None:
        return None
    try:
        padded = cursor.encode() + b"=" * (-len(cursor) % 4)
        found = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        found = None
    if not isinstance(found, list) or not found or found[0] != _fingerprint(filters):
        raise no_cursor()
    after = tuple(found[1:])
    if kinds and [type(value) for value in after] != list(kinds):
        raise no_cursor()
    if not all(map(_is_storable, after)):
        raise no_cursor()
    return after


def no_cursor() -> RequestError:
    """The refusal of a cursor that is not of this list."""
    return RequestError(
        "The cursor does not belong to this list and these filters; "
        "ask for the first page without one.",
        code="request.cursor",
    )


def _is_storable(value: Any) -> bool:
    """Whether both databases take the value: no NUL in text, no number beyond 2^53."""
    if isinstance(value, str):
        return "\0" not in value
    return isinstance(value, int | float) and abs(value) < MOST_NUMBER


def check_limit(limit: int) -> int:
    """The page size, refused beyond what a page may hold.

    Raises:
        RequestError: ``request.limit``.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise RequestError(f"limit is {limit}; wanted 1 to {MAX_LIMIT}", code="request.limit")
    return limit


def _fingerprint(filters: dict[str, Any]) -> str:
    text = orjson.dumps(filters, option=orjson.OPT_SORT_KEYS, default=sorted)
    return hashlib.sha256(text).hexdigest()[:16]
