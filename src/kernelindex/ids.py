"""Names of things: digests and their prefixes, slugs, and the patterns of design section 1."""

from __future__ import annotations

import re
import unicodedata

__all__ = [
    "COMMIT",
    "DIGEST",
    "NAME",
    "SLUG",
    "TOKEN",
    "is_digest",
    "parse_prefix",
    "short",
    "slugify",
]

DIGEST = r"^sha256:[0-9a-f]{64}$"
COMMIT = r"^[0-9a-f]{40}$"
TOKEN = r"^[a-z][a-z0-9_]*$"
SLUG = r"^[a-z0-9][a-z0-9-]*$"
NAME = r"^[a-z0-9][a-z0-9._-]*$"

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_PREFIX = re.compile(r"(?:sha256:)?([0-9a-f]{8,64})")
_SLUG_LENGTH = 100
_SHORT_LENGTH = 8


def is_digest(text: str) -> bool:
    """Whether ``text`` is a full ``sha256:`` digest."""
    return _DIGEST.fullmatch(text) is not None


def parse_prefix(text: str) -> str | None:
    """The lower-case hex of a digest or of a prefix of 8 to 64 digits, else None."""
    match = _PREFIX.fullmatch(text.strip().lower())
    return match[1] if match else None


def short(digest: str) -> str:
    """The first 8 hex digits of a digest, as pages and slugs show it."""
    return digest.removeprefix("sha256:")[:_SHORT_LENGTH]


def slugify(text: str, kind: str, digest: str) -> str:
    """A slug for an object named ``text``: transliterated, at most 100 characters.

    A text of which nothing can be transliterated becomes ``<kind>-<8 hex>``. The caller
    appends ``-<8 hex>`` where another object has the slug (design section 2.5).
    """
    latin = "".join(_latin(character) for character in text.lower())
    slug = re.sub(r"[^a-z0-9]+", "-", latin).strip("-")[:_SLUG_LENGTH].rstrip("-")
    return slug or f"{kind.lower()}-{short(digest)}"


def _latin(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character)
    return "".join(part for part in decomposed if not unicodedata.combining(part))
