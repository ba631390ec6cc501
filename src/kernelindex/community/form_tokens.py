"""Proof that a form was made by this site for this browser, without any script.

The page sets a random cookie; its form carries ``<time>.<MAC>``, a keyed hash of time,
cookie and purpose. Another site can make a browser send a form, but can neither read the
cookie nor make the hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

LASTS_S = 4 * 3600
COOKIE_BYTES = 16
MAX_COOKIE = 64


def make_cookie() -> str:
    """A new value for the browser's cookie."""
    return secrets.token_urlsafe(COOKIE_BYTES)


def is_cookie(value: str | None) -> bool:
    """Whether a browser sent something that can be one of ours."""
    return bool(value) and len(value or "") <= MAX_COOKIE and (value or "").isascii()


def make_form_token(secret: bytes, cookie: str, purpose: str, now: datetime) -> str:
    """What the form carries; ``purpose`` is its path."""
    at = str(int(now.timestamp()))
    return f"{at}.{_mac(secret, cookie, purpose, at)}"


def is_form_token(
    secret: bytes, token: str, cookie: str | None, purpose: str, now: datetime
) -> bool:
    """Whether a form's token belongs to the cookie and the purpose and is not too old."""
    at, _, mac = token.partition(".")
    if cookie is None or not is_cookie(cookie) or not (at.isascii() and at.isdigit()):
        return False
    if len(at) > 12 or not 0 <= now.timestamp() - int(at) <= LASTS_S:
        return False
    return hmac.compare_digest(
        _mac(secret, cookie, purpose, at).encode(), mac.encode(errors="replace")
    )


def _mac(secret: bytes, cookie: str, purpose: str, at: str) -> str:
    said = "\x00".join(("form", at, cookie, purpose)).encode()
    return hmac.new(secret, said, hashlib.sha256).hexdigest()
