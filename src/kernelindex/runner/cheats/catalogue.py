"""The catalogue's entries: what each cheat is, what becomes of it, and how it is caught."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from kernelindex.runner.cheats.codes import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Mapping

FIXTURES = "kernelindex.runner.cheats.fixtures."


@dataclass(frozen=True, slots=True)
class Entry:
    """One cheat, or honest but awkward fixture, with its twin.

    ``entry`` and ``honest`` are ``module:function`` under ``cheats.fixtures``. ``status`` and
    ``code`` are what the run must get; both None where the cheat must come to nothing and pass
    without gain. ``also`` are codes of other nets that may catch it first. ``axes`` are those of
    the point on a host, where the usual ones are too small to show it. ``buffers`` are the
    point's gradient buffers.
    """

    id: str
    kind: str
    title: str
    operation: str
    passes: tuple[str, ...]
    devices: tuple[str, ...]
    entry: str
    honest: str
    status: str | None
    code: str | None
    also: tuple[str, ...]
    caught_by: str
    how: str
    prepare: str | None = None
    honest_prepare: str | None = None
    alone: bool = False
    axes: Mapping[str, int] | None = None
    buffers: str = "fresh"

    @property
    def codes(self) -> frozenset[str]:
        """Every code that counts as caught."""
        return frozenset((*((self.code,) if self.code else ()), *self.also))


@cache
def entries() -> tuple[Entry, ...]:
    """All entries in the catalogue's order."""
    rows = json.loads(CATALOGUE.read_text(encoding="utf-8"))["entries"]
    return tuple(_entry(row) for row in rows)


def entries_on(device: str) -> tuple[Entry, ...]:
    """Entries that can be shown on ``cpu`` or ``cuda:<n>``."""
    kind = device.partition(":")[0]
    return tuple(one for one in entries() if kind in one.devices)


def _entry(row: dict[str, object]) -> Entry:
    names = {"caughtBy": "caught_by", "honestPrepare": "honest_prepare"}
    values = {names.get(name, name): value for name, value in row.items()}
    for name in ("passes", "devices", "also"):
        values[name] = tuple(values[name])  # type: ignore[arg-type]
    return Entry(**values)  # type: ignore[arg-type]
