"""Tokens of API keys: made, recognised, hashed and compared; standard library only.

A token is ``ki_<10 hex digits>_<43 characters>``. The first part is the key's public id;
the second holds 256 random bits, so a plain SHA-256 of the whole is as hard to invert as
the token is to guess, and no salt or slow hash adds anything.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

ID_BYTES = 5
SECRET_BYTES = 32
_TOKEN = re.compile(r"ki_([0-9a-f]{10})_[A-Za-z0-9_-]{43}")
_ID = re.compile(r"[0-9a-f]{10}")
_ANY_TOKEN = re.compile(r"ki_([0-9a-f]{10})_[A-Za-z0-9_-]+")


def make_token() -> str:
    """A new token, from the system's random source."""
    return f"ki_{secrets.token_hex(ID_BYTES)}_{secrets.token_urlsafe(SECRET_BYTES)}"


def key_id(token: str) -> str | None:
    """The public id in a token; None for text that is no token."""
    match = _TOKEN.fullmatch(token)
    return match[1] if match else None


def is_key_id(text: str) -> bool:
    """Whether text has the form of a key's public id."""
    return _ID.fullmatch(text) is not None


def hash_token(token: str) -> str:
    """What is stored of a token, 64 hex digits."""
    return hashlib.sha256(b"kernelindex token\x00" + token.encode(errors="replace")).hexdigest()


def is_same(token: str, stored_hash: str) -> bool:
    """Whether a token is the stored one, compared in constant time."""
    return hmac.compare_digest(hash_token(token), stored_hash)


def hide_tokens(text: str) -> str:
    """``text`` with the secret part of every token in it left out; for logs."""
    return _ANY_TOKEN.sub(r"ki_\1_…", text)
