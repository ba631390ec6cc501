"""What is known of reruns of a reported group, on its own device, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.policy.facts import Profile
from kernelindex.resolve.numbers import scale_for
from kernelindex.resolve.reruns import is_beside, likest_first
from kernelindex.resolve.wording import half_width, is_verified

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow

    Entries = Mapping[str, Sequence[EntryRow]]


def reruns_on_device(row: CohortRow, rows: Iterable[CohortRow]) -> list[CohortRow]:
    """Controlled groups of a reported one's workload and device, the likest protocol first.

    Of two that differ in the harness's variant alone the newer comes first.
    """
    if row.profile == Profile.CONTROLLED:
        return []
    found = {
        one.key: one
        for one in rows
        if one.profile == Profile.CONTROLLED and is_beside(row, one) and _same_device(row, one)
    }
    return likest_first(row, found.values())


def rerun_words(
    row: CohortRow, found: Sequence[EntryRow], rows: Iterable[CohortRow], entries: Entries
) -> str:
    """``rerun on H200: 3.45 ms sustained``, ``not rerun on H200``; nothing where neither is known.

    A controlled group is itself a rerun, so nothing is said of it.
    """
    if row.profile == Profile.CONTROLLED or is_verified(row) or not found:
        return ""
    where = str(row.device.get("family") or row.device.get("label") or "this device")
    again = reruns_on_device(row, rows)
    for one in again:
        for entry in entries.get(one.key, ()):
            if entry.line["id"] == found[0].line["id"]:
                return f"rerun on {where}: {_value(one, entry)}"
    read = [entry for one in again for entry in entries.get(one.key, ())]
    count = len({entry.line["id"] for entry in read} & {entry.line["id"] for entry in found})
    if count:
        return f"{count} of {row.entry_count} rerun on {where}"
    known = len(read) >= sum(one.entry_count for one in again)
    return f"not rerun on {where}" if known else ""


def _same_device(row: CohortRow, other: CohortRow) -> bool:
    mine, theirs = row.device.get("product_id"), other.device.get("product_id")
    if mine or theirs:
        return bool(mine == theirs)
    return bool(row.device.get("label") == other.device.get("label"))


def _value(cohort: CohortRow, entry: EntryRow) -> str:
    """The rerun's value and load: ``3.45 ms sustained``."""
    value = scale_for([entry.value], entry.unit).with_unit(entry.value, half_width(entry))
    load = str((cohort.protocol.get("rules") or {}).get("load", ""))
    return f"{value} {load}".rstrip()
