"""RunFacts to packed JSON and back, so that a cohort is judged again without its manifests.

They are the largest rows of a catalog: unpacked 2.7 KB of 12.6 KB a run.
"""

from __future__ import annotations

import dataclasses
import enum
import threading
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import orjson

from kernelindex.catalog.facts_dictionary import SAMPLE
from kernelindex.policy.facts import RunFacts

Decode = Callable[[Any], Any]


def encode(facts: RunFacts) -> bytes:
    """The facts packed; equal facts give equal bytes from one version of zstd."""
    packed: bytes = _mine.packer.compress(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS))
    return packed


def unpacked(packed: bytes) -> bytes:
    """The JSON text of packed facts."""
    text: bytes = _mine.unpacker.decompress(packed)
    return text


def decode(packed: bytes) -> RunFacts:
    """The facts that ``encode`` packed."""
    facts: RunFacts = _decoder(RunFacts)(orjson.loads(unpacked(packed)))
    return facts


class _Packers(threading.local):
    """A pair for each thread: zstd's contexts are not to be shared."""

    def __init__(self) -> None:
        import zstandard

        common = zstandard.ZstdCompressionDict(SAMPLE, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self.packer = zstandard.ZstdCompressor(level=1, dict_data=common, write_dict_id=False)
        self.unpacker = zstandard.ZstdDecompressor(dict_data=common)


_mine = _Packers()


@cache
def _decoder(hint: Any) -> Decode:
    """How a JSON value becomes a value of the annotated type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return _optional(_decoder(next(a for a in arguments if a is not type(None))))
    if origin is tuple:
        return _tuple(arguments)
    if origin is Mapping or hint in {str, int, float, bool, object}:
        return _same
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint)
    return _same


def _same(value: Any) -> Any:
    return value


def _optional(decode: Decode) -> Decode:
    return lambda value: None if value is None else decode(value)


def _tuple(arguments: tuple[Any, ...]) -> Decode:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        item = _decoder(arguments[0])
        if item is _same:
            return tuple
        return lambda values: tuple(item(value) for value in values)
    if all(_decoder(argument) is _same for argument in arguments):
        return tuple
    parts = [_decoder(argument) for argument in arguments]
    return lambda values: tuple(part(value) for part, value in zip(parts, values, strict=True))


def _dataclass(cls: Any) -> Decode:
    hints = typing.get_type_hints(cls)
    names = {field.name: _decoder(hints[field.name]) for field in dataclasses.fields(cls)}
    plain = frozenset(name for name, decode in names.items() if decode is _same)

    def build(value: dict[str, Any]) -> Any:
        return cls(
            **{name: item if name in plain else names[name](item) for name, item in value.items()}
        )

    return build
