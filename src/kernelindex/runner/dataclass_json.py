"""Frozen dataclasses from JSON and back, by their annotations; strict, with paths in errors.

Attributes are snake_case, JSON keys camelCase; keys of mappings are data and stay as they are.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from kernelindex.stats import finite_number

T = TypeVar("T")
_MOST_SHOWN = 80


class ShapeError(ValueError):
    """Raised when a JSON value does not have the shape a dataclass asks for."""

    def __init__(self, path: str, seen: object, wanted: str) -> None:
        super().__init__(f"{path or 'the document'}: saw {_shown(seen)}, wanted {wanted}")
        self.path = path
        self.wanted = wanted


def to_json(value: Any) -> Any:
    """A dataclass, mapping, tuple or plain value as JSON-ready objects."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {_camel(one.name): to_json(getattr(value, one.name)) for one in fields}
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(one) for one in value]
    return value


def from_json(kind: type[T], value: Any, path: str = "") -> T:
    """``value`` as ``kind``; raises ShapeError naming the first place that does not fit."""
    made: T = _read(kind, value, path)
    return made


def _read(kind: Any, value: Any, path: str) -> Any:
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(typing.cast("type[Any]", kind), value, path)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _read_optional(kind, value, path)
    if origin is tuple:
        item = typing.get_args(kind)[0]
        entries = _expect(value, list, path, "a list")
        return tuple(_read(item, one, f"{path}[{at}]") for at, one in enumerate(entries))
    if origin is Mapping:
        item = typing.get_args(kind)[1]
        mapping = _expect(value, dict, path, "an object")
        return {key: _read(item, one, f"{path}.{key}") for key, one in mapping.items()}
    return _read_plain(kind, value, path)


def _read_optional(kind: Any, value: Any, path: str) -> Any:
    if value is None:
        return None
    (inner,) = (one for one in typing.get_args(kind) if one is not types.NoneType)
    return _read(inner, value, path)


def _read_plain(kind: Any, value: Any, path: str) -> Any:
    read = finite_number(value) if kind is float else value
    if type(read) is not kind:
        raise ShapeError(path, value, _WORDS[kind])
    return read


_WORDS = {
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    bool: "true or false",
}


def _read_dataclass(kind: type[Any], value: Any, path: str) -> Any:
    entries = _expect(value, dict, path, f"an object ({kind.__name__})")
    known = {_camel(one.name): one for one in dataclasses.fields(kind)}
    for key in entries:
        if key not in known:
            raise ShapeError(_join(path, key), entries[key], f"one of {', '.join(known)}")
    hints, found = typing.get_type_hints(kind), {}
    for key, one in known.items():
        if key in entries:
            found[one.name] = _read(hints[one.name], entries[key], _join(path, key))
        elif one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            raise ShapeError(_join(path, key), None, "a value: the key is missing")
    return _build(kind, found, entries, path)


def _build(kind: type[Any], found: Mapping[str, Any], entries: Mapping[str, Any], path: str) -> Any:
    try:
        return kind(**found)
    except ShapeError:
        raise
    except ValueError as error:
        raise ShapeError(path, entries, str(error)) from error


def _expect(value: Any, kind: type[T], path: str, wanted: str) -> T:
    if not isinstance(value, kind):
        raise ShapeError(path, value, wanted)
    return value


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _shown(value: object) -> str:
    """A value in at most ``_MOST_SHOWN`` letters; what a larger object holds, by its keys."""
    text = repr(value)
    if len(text) > _MOST_SHOWN and isinstance(value, Mapping):
        text = f"an object with {', '.join(map(str, value))}"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
