"""Corrections of our own shipped evidence: runs that say what a fault of ours made them say.

A signed batch stays whole, because the ones after it name its digest. What is wrong in it
is withdrawn beside it: ``data/corrections.json`` lists the runs, and importing the shipped
bundles retracts them. Entries are added and never reworded: a catalog keeps what was said.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal, NoReturn

from kernelindex.errors import CanonicalError, RegistryError
from kernelindex.ids import is_digest
from kernelindex.manifests import canonical
from kernelindex.registry.resources import read_data

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "corrections.json"
KEYS = ("run", "action", "reason", "date", "by")
ACTION: Literal["retract"] = "retract"
"""The one action: what supersedes a run is another run, which says so itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedCorrection:
    """One run that is withdrawn, why, since which calendar date, and who says so."""

    run: str
    action: Literal["retract"]
    reason: str
    date: str
    by: str


def load_corrections() -> tuple[ShippedCorrection, ...]:
    """Every correction of this distribution, in the order of the file.

    Raises RegistryError ``registry.unreadable``, ``registry.correction``.
    """
    return parse_corrections(read_data(FILE))


def parse_corrections(data: bytes) -> tuple[ShippedCorrection, ...]:
    """The corrections of a file's bytes.

    Raises RegistryError ``registry.correction`` with the entry, what was seen and wanted.
    """
    try:
        document = canonical.loads(data)
    except CanonicalError as problem:
        _refuse("the file", problem.message, "strict JSON")
    if not isinstance(document, dict) or set(document) != {"corrections"}:
        _refuse("the file", "another top level", "an object with the one key corrections")
    entries = document["corrections"]
    if not isinstance(entries, list):
        _refuse("corrections", _kind(entries), "a list of objects")
    found = tuple(_read_entry(place, entry) for place, entry in enumerate(entries, start=1))
    _refuse_twice(found)
    return found


def _read_entry(place: int, entry: object) -> ShippedCorrection:
    if not isinstance(entry, dict):
        _refuse(f"entry {place}", _kind(entry), f"an object with {', '.join(KEYS)}")
    for name in sorted(set(entry) ^ set(KEYS)):
        seen = f"{name!r}, which is not known" if name in entry else f"no {name!r}"
        _refuse(f"entry {place}", seen, f"exactly {', '.join(KEYS)}")
    for name, (holds, wanted) in _RULES.items():
        value = entry[name]
        if not isinstance(value, str) or not holds(value):
            _refuse(f"entry {place}, {name}", repr(value), wanted)
    return ShippedCorrection(**entry)


def _refuse_twice(found: tuple[ShippedCorrection, ...]) -> None:
    runs = [one.run for one in found]
    for place, run in enumerate(runs, start=1):
        first = runs.index(run) + 1
        if first != place:
            _refuse(f"entry {place}, run", f"{run}, as in entry {first}", "one entry a run")


def _refuse(where: str, seen: str, wanted: str) -> NoReturn:
    raise RegistryError(
        f"registry data {FILE}, {where}: seen {seen}, wanted {wanted}",
        code="registry.correction",
        file=FILE,
    )


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _is_words(text: str) -> bool:
    return bool(text) and text == text.strip() and text.isprintable()


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


_RULES: dict[str, tuple[Callable[[str], bool], str]] = {
    "run": (is_digest, "a run's digest, sha256:<64 hex>"),
    "action": (ACTION.__eq__, repr(ACTION)),
    "reason": (
        lambda text: _is_words(text) and not text.endswith("."),
        "why, in words on one line without a full stop at the end",
    ),
    "date": (_is_date, "a calendar date, YYYY-MM-DD"),
    "by": (_is_words, "who says so, in words on one line"),
}
