"""A bounded cache."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A mapping that forgets what was not used for longest, beyond ``limit`` items."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, if it is still held."""
        value = self._items.get(key)
        if value is not None:
            self._items.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> V:
        """Hold a value, and give it back."""
        self._items[key] = value
        if len(self._items) > self._limit:
            self._items.popitem(last=False)
        return value

    def drop(self, key: K) -> None:
        """Forget a value."""
        self._items.pop(key, None)
