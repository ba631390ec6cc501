"""Strict reading of a JSON object: each field is taken once, with its type; the rest is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from kernelindex.errors import RegistryError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Fields", "read_object"]


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``, without duplicate keys. Raises ``RegistryError``."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique)
    except (OSError, ValueError) as error:
        raise RegistryError(f"{path.name}: {error}", code="operation.invalid") from None
    if not isinstance(value, dict):
        raise RegistryError(f"{path.name}: wanted a JSON object", code="operation.invalid")
    return value


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} stands twice")
    return made


class Fields:
    """The fields of one object at ``where``; ``done`` refuses what was not taken."""

    def __init__(self, value: object, where: str) -> None:
        self.where = where
        if not isinstance(value, Mapping):
            refuse(where, value, "an object")
        self._left = dict(value)

    def text(self, name: str, default: str | None = None, among: Sequence[str] = ()) -> str:
        """A text that is not empty, of the closed set ``among`` where one is given."""
        value = self._take(name, default)
        if not isinstance(value, str) or (value == "" and default != ""):
            refuse(f"{self.where}.{name}", value, "a text")
        if among and value not in among:
            refuse(f"{self.where}.{name}", value, f"one of {', '.join(among)}")
        return value

    def texts(self, name: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of texts."""
        value = self._take(name, default)
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            refuse(f"{self.where}.{name}", value, "a list of texts")
        return tuple(value)

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number that is not negative."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e300:
            refuse(f"{self.where}.{name}", value, "a number from 0")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            refuse(f"{self.where}.{name}", value, "true or false")
        return value

    def objects(self, name: str) -> list[Fields]:
        """A list of objects, empty where the field is absent."""
        value = self._take(name, ())
        if not isinstance(value, (list, tuple)):
            refuse(f"{self.where}.{name}", value, "a list of objects")
        return [Fields(item, f"{self.where}.{name}[{i}]") for i, item in enumerate(value)]

    def mapping(self, name: str) -> dict[str, Any]:
        """An object as it is, empty where the field is absent."""
        value = self._take(name, {})
        if not isinstance(value, Mapping):
            refuse(f"{self.where}.{name}", value, "an object")
        return dict(value)

    def mappings(self, name: str) -> dict[str, dict[str, Any]]:
        """An object of objects."""
        value = self.mapping(name)
        for key, item in value.items():
            if not isinstance(item, Mapping):
                refuse(f"{self.where}.{name}.{key}", item, "an object")
        return {key: dict(item) for key, item in value.items()}

    def integers(self, name: str) -> dict[str, int]:
        """An object of whole numbers."""
        value = self.mapping(name)
        for key, item in value.items():
            if isinstance(item, bool) or not isinstance(item, int):
                refuse(f"{self.where}.{name}.{key}", item, "a whole number")
        return value

    def strings(self, name: str) -> dict[str, str]:
        """An object of texts."""
        value = self.mapping(name)
        for key, item in value.items():
            if not isinstance(item, str):
                refuse(f"{self.where}.{name}.{key}", item, "a text")
        return value

    def shape(self, name: str) -> tuple[str | int, ...]:
        """A list of whole numbers and axis expressions."""
        value = self._take(name, None)
        if not isinstance(value, (list, tuple)) or not all(type(i) in (str, int) for i in value):
            refuse(f"{self.where}.{name}", value, "a list of whole numbers and axis expressions")
        return tuple(value)

    def done(self) -> None:
        """Refuse fields that nobody took."""
        if self._left:
            unknown = sorted(self._left)[0]
            refuse(f"{self.where}.{unknown}", self._left[unknown], "no such field; remove it")

    def _take(self, name: str, default: Any) -> Any:
        if name in self._left:
            return self._left.pop(name)
        if default is None:
            refuse(f"{self.where}.{name}", None, "this field")
        return default


def refuse(where: str, seen: object, wanted: str) -> NoReturn:
    """Raise ``RegistryError`` with what was seen, where, and what was wanted."""
    shown = "nothing" if seen is None else json.dumps(seen, default=str)[:80]
    raise RegistryError(f"{where}: saw {shown}, wanted {wanted}", code="operation.invalid")
