"""The plain strict JSON reader: slower, decides every refusal and says where.

Offending tokens become markers in the parsed tree; one walk over the tree then finds the
first marker with its path, lone surrogates, and the depth.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import NoReturn

from kernelindex.errors import CanonicalError

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in the parsed tree where a token was that strict JSON does not have."""

    code: str
    seen: str
    wanted: str


def encoded(data: bytes | str, max_bytes: int) -> bytes:
    """``data`` as UTF-8 bytes within the size limit."""
    try:
        raw = data.encode() if isinstance(data, str) else bytes(data)
    except UnicodeEncodeError as error:
        _refuse("surrogate", f"text holds a lone surrogate at character {error.start}", "$")
    if len(raw) > max_bytes:
        _refuse("too_large", f"{len(raw)} bytes where at most {max_bytes} are allowed", "$")
    return raw


def read(raw: bytes) -> object:
    """The value of a strict JSON text; see ``canonical.loads`` for what it refuses."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        _refuse("encoding", f"byte {error.start} is not UTF-8: {error.reason}", "$")
    try:
        value = json.loads(
            text,
            object_pairs_hook=build_object,
            parse_int=read_integer,
            parse_float=read_double,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        _refuse("syntax", f"not JSON at line {error.lineno} column {error.colno}: {error.msg}", "$")
    except RecursionError:
        _refuse("too_deep", f"nested deeper than {MAX_DEPTH} levels", "$")
    check(value)
    return value


def check(value: object) -> None:
    """Refuse markers, lone surrogates and more than 64 levels anywhere in ``value``."""
    pending: list[tuple[object, _Place]] = [(value, _ROOT)]
    while pending:
        item, place = pending.pop()
        if isinstance(item, str):
            _check_text(item, place)
        elif isinstance(item, _Refused):
            _refuse(item.code, f"{item.seen} where {item.wanted}", str(place), item.seen)
        elif isinstance(item, (dict, list)):
            if place.depth > MAX_DEPTH:
                _refuse("too_deep", f"nested deeper than {MAX_DEPTH} levels", str(place))
            pending.extend(_children(item, place))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an item lies; written out only for a refusal, as keys may be long."""

    parent: _Place | None
    step: str | int
    depth: int

    def __str__(self) -> str:
        if self.parent is None:
            return "$"
        if isinstance(self.step, int):
            return f"{self.parent}[{self.step}]"
        step = _short(self.step.encode(errors="replace").decode())
        return f"{self.parent}.{step}"


_ROOT = _Place(None, "", 1)


def _children(item: dict[str, object] | list[object], place: _Place) -> list[tuple[object, _Place]]:
    depth = place.depth + 1
    if isinstance(item, list):
        steps = [(child, _Place(place, index, depth)) for index, child in enumerate(item)]
    else:
        for key in item:
            _check_text(key, place)
        steps = [(child, _Place(place, key, depth)) for key, child in item.items()]
    return steps[::-1]


def _check_text(text: str, place: _Place) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            seen = ascii(text[:80])
            _refuse("surrogate", f"{seen} holds a lone surrogate", str(place), seen)


def build_object(pairs: list[tuple[str, object]]) -> object:
    """The object of ``pairs``; a key that occurs again holds a marker."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            found[key] = _Refused(
                "duplicate_key", f"key {key[:80]!a} again", "each key may occur once"
            )
        seen.add(key)
    return found


def read_integer(token: str) -> object:
    """The value of an integer token, or a marker beyond 2^53-1."""
    # 2^53-1 has 16 digits; a longer token is refused before it costs a conversion.
    if len(token) <= 17 and -MAX_INTEGER <= (value := int(token)) <= MAX_INTEGER:
        return value
    return _Refused(
        "integer_range",
        _short(token),
        "integers reach to 2^53-1; write text, or a double like 1e20",
    )


def read_double(token: str) -> object:
    """The value of a number token, or a marker where a double overflows."""
    value = float(token)
    return (
        value
        if math.isfinite(value)
        else _Refused("not_finite", _short(token), "a number must fit a double")
    )


def _constant(token: str) -> object:
    return _Refused("not_finite", token, "JSON has numbers only; leave the field out")


def _short(token: str) -> str:
    return token if len(token) <= 40 else f"{token[:37]}..."


def _refuse(code: str, message: str, path: str, seen: str = "") -> NoReturn:
    details = {"path": path} | ({"seen": seen} if seen else {})
    raise CanonicalError(f"{path}: {message}", code=f"canonical.{code}", **details)
