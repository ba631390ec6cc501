"""Whether the files of a bundle are those that the last line of its journal names.

The worker names every file of its folder there by digest, generations too, which are not in a
bundle. Bundles signed before it did so have no such line, and are held to the rest alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.evidence import bundle
from kernelindex.evidence.report import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENDED, FILES = "ended", "files"
_UNBOUND = frozenset((bundle.STATEMENT, bundle.JOURNAL, bundle.OUTCOME, bundle.LINKS))
_NOT_PACKED = ("generations/", "abandoned/")


def bound_faults(files: Mapping[str, bytes]) -> Iterator[Fault]:
    """A fault ``journal`` for each file that is not as the journal has it."""
    lines = files.get(bundle.JOURNAL, b"").splitlines()
    last = _entry(lines[-1]) if lines else {}
    named = last.get(FILES)
    if last.get("event") != ENDED or not isinstance(named, dict):
        return
    wanted = {name: one for name, one in named.items() if not name.startswith(_NOT_PACKED)}
    seen = {
        name: bundle.sha256(data)
        for name, data in files.items()
        if name not in _UNBOUND and not name.startswith(bundle.MANIFESTS)
    }
    for name in sorted(wanted.keys() | seen.keys()):
        if wanted.get(name) != seen.get(name):
            text = f"it is {seen.get(name, 'not there')}, the journal's last line says"
            yield _fault(name, f"{text} {wanted.get(name, 'nothing of it')}")
    yield from _outcome_faults(files, last, lines)


def _outcome_faults(
    files: Mapping[str, bytes], last: Mapping[str, Any], lines: list[bytes]
) -> Iterator[Fault]:
    """The outcome follows from the journal whole."""
    seen = _entry(files.get(bundle.OUTCOME, b""))
    wanted = {
        "status": last.get("status"),
        "missing": last.get("missing"),
        "journal": {"lines": len(lines), "head": bundle.sha256(lines[-1])},
    }
    for name in sorted(seen.keys() | wanted.keys()):
        if seen.get(name) != wanted.get(name):
            text = f"{name} is {seen.get(name)!r:.80}, the journal says {wanted.get(name)!r:.80}"
            yield _fault(bundle.OUTCOME, text)


def _fault(where: str, text: str) -> Fault:
    return Fault(code="journal", where=where, text=text)


def _entry(data: bytes) -> dict[str, Any]:
    """A JSON object, or an empty one for anything else."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
