"""Strict YAML for authoring: what JSON can say, in YAML's clothes.

One document; plain scalars are null, booleans, JSON numbers or text, so that dates,
``yes`` and ``1_000`` stay text; no tags but ``!!str``, ``!!map`` and ``!!seq``; keys are
text and occur once; aliases are bounded in number and in what they expand to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from kernelindex.errors import CanonicalError
from kernelindex.manifests import _strict_json

MAX_ALIASES = 64

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DOUBLE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = (None, "!", f"{_TAG}str")
_LIST_TAGS = (None, "!", f"{_TAG}seq")
_OBJECT_TAGS = (None, "!", f"{_TAG}map")


def loads(data: bytes | str, *, max_bytes: int = _strict_json.MAX_BYTES) -> Any:
    """Read one strict YAML document of at most ``max_bytes`` UTF-8 bytes and 64 levels.

    Raises ``CanonicalError`` with the codes of ``canonical.loads``, and ``canonical.tag``
    or ``canonical.alias``.
    """
    raw = _strict_json.encoded(data, max_bytes)
    try:
        events = yaml.parse(raw.decode(), Loader=_LOADER)
        value = _Builder(events).document()
    except UnicodeDecodeError as error:
        _refuse("encoding", f"byte {error.start} is not UTF-8: {error.reason}")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1} column {mark.column + 1}" if mark else ""
        _refuse("syntax", f"not YAML{where}: {error.problem or error.context}")
    except (yaml.YAMLError, ValueError) as error:
        _refuse("syntax", f"not YAML: {' '.join(str(error).split())}")
    _strict_json.check(value)
    return value


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A value an alias may repeat; ``size`` counts its nodes and characters."""

    value: Any
    size: int


class _Builder:
    """Builds one value from parser events."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, _Anchored | None] = {}
        self.aliases = 0
        self.size = 0

    def document(self) -> Any:
        event = next(self.events)
        while isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
            event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            _refuse("syntax", "no document")
        value = self.value(event, 1)
        next(self.events)
        if not isinstance(next(self.events), yaml.StreamEndEvent):
            _refuse("syntax", "a second document; one file holds one manifest")
        return value

    def value(self, event: Any, depth: int) -> Any:
        if depth > _strict_json.MAX_DEPTH + 1:
            _refuse("too_deep", f"nested deeper than {_strict_json.MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        before = self.size
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        value = self.node(event, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, self.size - before)
        return value

    def node(self, event: Any, depth: int) -> Any:
        self.size += 1
        if isinstance(event, yaml.ScalarEvent):
            self.size += len(event.value)
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            _check_tag(event, _LIST_TAGS)
            return list(self.items(depth))
        _check_tag(event, _OBJECT_TAGS)
        return _strict_json.build_object(list(self.pairs(depth)))

    def items(self, depth: int) -> Iterator[Any]:
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            yield self.value(event, depth + 1)

    def pairs(self, depth: int) -> Iterator[tuple[str, Any]]:
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.value(event, depth + 1)
            if not isinstance(key, str):
                _refuse("syntax", f"a key that is not text{_at(event)}; quote it")
            yield key, self.value(next(self.events), depth + 1)

    def alias(self, event: Any) -> Any:
        self.aliases += 1
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            _refuse("alias", f"alias *{event.anchor}{_at(event)} names nothing complete before it")
        self.size += anchored.size
        if self.aliases > MAX_ALIASES or self.size > _strict_json.MAX_BYTES:
            _refuse("alias", f"aliases beyond the bound of {MAX_ALIASES}, or of 1 MiB expanded")
        return anchored.value


def _scalar(event: Any) -> Any:
    _check_tag(event, _SCALAR_TAGS)
    text: str = event.value
    if event.tag is not None or not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return _strict_json.read_integer(text)
    return _strict_json.read_double(text) if _DOUBLE.fullmatch(text) else text


def _check_tag(event: Any, allowed: tuple[str | None, ...]) -> None:
    if event.tag not in allowed:
        _refuse("tag", f"tag {event.tag[:80]!r}{_at(event)}; write the value without a tag")


def _at(event: Any) -> str:
    return f" at line {event.start_mark.line + 1}"


def _refuse(code: str, message: str) -> NoReturn:
    raise CanonicalError(f"$: {message}", code=f"canonical.{code}", path="$")
