"""Canonical JSON: strict reading, RFC 8785 writing, digests.

Both directions have a fast path on orjson behind guards that only let through input for
which its answer cannot differ, and a plain path that decides everything else:
``_strict_json`` for reading, the rfc8785 package for writing. Property tests hold the
fast paths to the plain ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TypeAlias, cast

import orjson
import rfc8785

from kernelindex.errors import CanonicalError
from kernelindex.manifests import _strict_json

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "JsonValue",
    "digest_of",
    "digest_of_plain",
    "dumps",
    "loads",
    "reread",
]

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_BYTES = _strict_json.MAX_BYTES
MAX_DEPTH = _strict_json.MAX_DEPTH

# Sixteen digits can exceed 2^53-1. What does not follow one of these bytes is a fraction,
# or part of a text such as a digest (3 % of the export's lines hold such a one).
# Digits as zeros make the look a substring search (2 us for 2 KB; a regex takes 60 to 190,
# which was 15 % of an import).
_BEFORE_INTEGER = frozenset(b":,[- \t\r\n")
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_SIXTEEN_ZEROS = b"0" * 16
_AFTER_DIGITS = re.compile(rb"0*")
# Numbers that orjson writes otherwise than ECMAScript: integral doubles, and exponents.
# The first two begin with a literal, which the engine finds fast, and may hit a text.
_INTEGRAL = re.compile(rb"\.0(?:[,\]}]|\Z)")
_EXPONENT = re.compile(rb"e[-+]?\d{1,3}(?:[,\]}]|\Z)")
_OTHER_FLOAT = re.compile(rb"(?:\A|[:\[,])-?\d+(?:\.0|(?:\.\d+)?e[-+]?\d{1,3})(?:[,\]}]|\Z)")
# Lead bytes of U+E000 and above, where UTF-8 and UTF-16 order keys differently.
_HIGH_CHARACTER = re.compile(rb"[\xee-\xff]")
# A line of indented JSON that lies inside 63 containers or more.
_DEEP_LINE = b"\n" + b"  " * (MAX_DEPTH - 1)
_UNDECIDED = object()
_DUMP_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


def loads(data: bytes | str, *, max_bytes: int = MAX_BYTES) -> JsonValue:
    """Read one strict I-JSON text of at most ``max_bytes`` UTF-8 bytes and 64 levels.

    Raises ``CanonicalError`` with code ``canonical.`` + ``encoding``, ``syntax``,
    ``duplicate_key``, ``not_finite``, ``integer_range``, ``surrogate``, ``too_large``
    or ``too_deep``; ``details`` hold ``path`` and ``seen`` where they are known.
    """
    raw = _strict_json.encoded(data, max_bytes)
    value = _read_fast(raw)
    return cast("JsonValue", _strict_json.read(raw) if value is _UNDECIDED else value)


def dumps(value: object) -> bytes:
    """The RFC 8785 bytes of a JSON value.

    Raises ``CanonicalError`` for what has none: NaN, an integer beyond 2^53-1, a lone
    surrogate, a key that is not text, a type that is not JSON.
    """
    written = _write_fast(value)
    return _write_plain(value) if written is None else written


def reread(written: bytes | str) -> JsonValue:
    """The value of a text that ``dumps`` wrote, such as a stored body.

    RFC 8785 writes the double 1e20 as 100000000000000000000, which ``loads`` refuses as an
    integer; here such a token is the double that it was.
    """
    raw = written.encode() if isinstance(written, str) else written
    if _has_long_integer(raw):
        return cast("JsonValue", json.loads(raw, parse_int=_integer_or_double))
    return cast("JsonValue", orjson.loads(raw))


def _integer_or_double(token: str) -> int | float:
    value = int(token)
    return value if abs(value) <= _strict_json.MAX_INTEGER else float(value)


def digest_of(value: object) -> str:
    """``sha256:`` and the hex SHA-256 of the canonical bytes of ``value``."""
    return "sha256:" + hashlib.sha256(dumps(value)).hexdigest()


def digest_of_plain(value: JsonValue) -> str:
    """``digest_of`` for a value that was read from JSON or dumped to it by a model.

    Such a value holds neither UUIDs nor enumerations; only a NaN, written as null, has to
    be looked for. Spares an import 4 %.
    """
    return "sha256:" + hashlib.sha256(_write_fast(value, plain=True) or dumps(value)).hexdigest()


def _read_fast(raw: bytes) -> object:
    r"""The value of ``raw`` if orjson alone proves it strict, else ``_UNDECIDED``.

    Without escaped ones every colon of the text is written back once, so that equal
    counts mean that no pair was dropped as a duplicate. orjson refuses lone surrogates.
    """
    if b"\\u003a" in raw or b"\\u003A" in raw or _has_long_integer(raw):
        return _UNDECIDED
    try:
        value = orjson.loads(raw)
        deep = raw.count(b"{") + raw.count(b"[") > MAX_DEPTH
        echo = orjson.dumps(value, option=orjson.OPT_INDENT_2 if deep else None)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return _UNDECIDED
    if raw.count(b":") != echo.count(b":") or (deep and _DEEP_LINE in echo):
        return _UNDECIDED
    return value


def _write_fast(value: object, *, plain: bool = False) -> bytes | None:
    """The canonical bytes if orjson's cannot differ from them, else None.

    Reading the bytes back shows what orjson writes silently: NaN as null, UUIDs as text.
    ``plain`` says that there are no such texts.
    """
    try:
        written = orjson.dumps(value, option=_DUMP_OPTIONS)
    except orjson.JSONEncodeError:
        return None
    if _has_other_float(written):
        return None
    if not written.isascii() and _HIGH_CHARACTER.search(written):
        return None
    if plain and b"null" not in written:
        return written
    return written if orjson.loads(written) == value else None


def _has_long_integer(raw: bytes) -> bool:
    zeros = raw.translate(_DIGITS_AS_ZEROS)
    at = zeros.find(_SIXTEEN_ZEROS)
    while at >= 0:
        if not at or zeros[at - 1] in _BEFORE_INTEGER:
            return True
        digits = _AFTER_DIGITS.match(zeros, at)
        at = zeros.find(_SIXTEEN_ZEROS, digits.end() if digits else at)
    return False


def _has_other_float(written: bytes) -> bool:
    if _INTEGRAL.search(written) or _EXPONENT.search(written):
        return _OTHER_FLOAT.search(written) is not None
    return False


def _write_plain(value: object) -> bytes:
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except rfc8785.IntegerDomainError as error:
        raise CanonicalError(
            f"{error}: write it as text, or as a double such as 1e20",
            code="canonical.integer_range",
        ) from None
    except rfc8785.FloatDomainError as error:
        raise CanonicalError(
            f"{error}: leave the field out instead", code="canonical.not_finite"
        ) from None
    except RecursionError:
        raise CanonicalError(
            "the value is nested too deeply to be written", code="canonical.too_deep"
        ) from None
    except UnicodeEncodeError:
        raise CanonicalError("a key holds a lone surrogate", code="canonical.surrogate") from None
    except rfc8785.CanonicalizationError as error:
        surrogate = "codepoints" in str(error)
        raise CanonicalError(
            f"no canonical JSON: {error}",
            code="canonical.surrogate" if surrogate else "canonical.not_json",
        ) from None
