"""Names of things: digests and their prefixes, slugs, and the patterns of manifests."""

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
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")
_SLUG_LENGTH = 100
_SHORT_LENGTH = 8

# Letters that no Unicode decomposition takes to ASCII; lower case only.
_TRANSLITERATED = """
    æ=ae œ=oe ø=o ł=l đ=d ð=d þ=th ß=ss ı=i ħ=h ŋ=n
    α=a β=b γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f
    χ=ch ψ=ps ω=o
    а=a б=b в=v г=g д=d е=e ж=zh з=z и=i й=i к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh
    ц=ts ч=ch ш=sh щ=shch ы=y э=e ю=iu я=ia
"""
_LETTERS = dict(pair.split("=") for pair in _TRANSLITERATED.split())


def is_digest(text: str) -> bool:
    """Whether ``text`` is a full ``sha256:`` digest."""
    return _DIGEST.fullmatch(text) is not None


def parse_prefix(text: str) -> str | None:
    """The lower-case hex of a digest, or of a prefix of 8 to 64 digits, else None."""
    match = _PREFIX.fullmatch(text.strip().lower())
    return match[1] if match else None


def short(digest: str) -> str:
    """The first 8 hex digits of a digest, as pages and slugs show it."""
    return digest.removeprefix("sha256:")[:_SHORT_LENGTH]


def slugify(text: str, kind: str, digest: str) -> str:
    """The slug of an object called ``text``: a manifest's name as it is, else transliterated.

    What cannot be transliterated at all becomes ``<kind>-<8 hex>``. On a collision the
    caller appends ``-<8 hex>`` (design section 2.5).
    """
    if _NAME.fullmatch(text):
        return text
    latin = "".join(_latin(character) for character in text.lower())
    slug = re.sub(r"[^a-z0-9]+", "-", latin).strip("-")[:_SLUG_LENGTH].rstrip("-")
    return slug or f"{kind.lower()}-{short(digest)}"


def _latin(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    parts = unicodedata.normalize("NFKD", character).lower()
    return "".join(_LETTERS.get(part, part) for part in parts if not unicodedata.combining(part))
