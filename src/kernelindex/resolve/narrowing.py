"""What a question's conditions leave of what was found, and what they leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.resolve.exclusions import exclude, meets_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import EntryRow
    from kernelindex.resolve.answer import Excluded
    from kernelindex.resolve.exclusions import Check, Entries
    from kernelindex.resolve.findings import Findings


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Groups with an entry that meets the conditions, and the entries that do.

    ``left_out`` are the entries of groups that fit which do not, ``read`` all of them.
    """

    findings: Findings
    entries: Entries
    read: Entries
    checks: tuple[Check, ...] = ()
    left_out: tuple[Excluded, ...] = ()

    def meets(self, entry: EntryRow) -> bool:
        """Whether an entry meets the conditions."""
        return meets_all(self.checks, entry)

    def not_met(self, key: str) -> int:
        """How many entries of a group do not."""
        return len(self.read.get(key, ())) - len(self.entries.get(key, ()))


def narrow(checks: Sequence[Check], findings: Findings, entries: Entries) -> Narrowed:
    """Apply a question's conditions; without any, everything stays as it was found."""
    if not checks:
        return Narrowed(findings, entries, entries)
    kept = {
        key: rows
        for key, found in entries.items()
        if (rows := [entry for entry in found if meets_all(checks, entry)])
    }
    fit = {row.key: entries.get(row.key, ()) for row in findings.fits}
    return Narrowed(findings.only(kept), kept, entries, tuple(checks), exclude(checks, fit))
