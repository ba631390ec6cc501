"""Best reported, verified and deployable: three answers, as they were judged and stored.

Where a request's own policy leaves out a stored best, the stored rank ranges of the others
still hold: an entry is surely behind another when its range starts after the other's
ends, and what is not surely behind is named together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kernelindex.resolve.answer import Best, Pick, Slot
from kernelindex.resolve.wording import (
    CONTROLLED_LEVELS,
    cohort_scale,
    entry_name,
    half_width,
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow

    Test = Callable[[EntryRow], bool]

SlotName = Literal["reported", "verified", "deployable"]


def pick_best(
    cohorts: Sequence[CohortRow],
    entries: Mapping[str, Sequence[EntryRow]],
    allowed: Test,
) -> Best:
    """The three bests over all cohorts of an answer, among the entries policy allows."""

    def slot(name: SlotName) -> Slot:
        picks = [_pick(row, entries.get(row.key, ()), name, allowed) for row in cohorts]
        found = tuple(pick for pick in picks if pick is not None)
        return Slot(picks=found, would_fill=None if found else _would_fill(cohorts, name))

    return Best(reported=slot("reported"), verified=slot("verified"), deployable=slot("deployable"))


def _pick(
    row: CohortRow, entries: Sequence[EntryRow], name: SlotName, allowed: Test
) -> Pick | None:
    ahead = _stored_best(row, entries, name)
    if not ahead or not all(map(allowed, ahead)):
        ahead = _unbeaten([one for one in entries if allowed(one) and _qualifies(one, name)])
    if not ahead:
        return None
    alone = row.entry_count == 1
    scale = cohort_scale(entries)
    names = [
        f"{entry_name(entry, ahead)} {scale.with_unit(entry.value, half_width(entry))}"
        for entry in ahead
    ]
    return Pick(
        cohort=row.key,
        hardware=str(row.device.get("label", "")),
        timed_pass=row.timed_pass,
        how="only_result" if alone else "leads" if len(ahead) == 1 else "unbeaten",
        runs=tuple(entry.run_digest for entry in ahead),
        text=listed(names, "or"),
    )


def _stored_best(row: CohortRow, entries: Sequence[EntryRow], name: SlotName) -> list[EntryRow]:
    keys = row.best.get(name, {}).get("entries", ())
    return [entry for entry in entries if entry.entry_key in keys]


def _qualifies(entry: EntryRow, name: SlotName) -> bool:
    if name == "verified":
        return entry.evidence in CONTROLLED_LEVELS
    return entry.deployable if name == "deployable" else True


def _unbeaten(fit: Sequence[EntryRow]) -> list[EntryRow]:
    """The first in stored order and those that are not surely behind it."""
    if not fit or fit[0].rank_high is None:
        return list(fit[:1])
    last = fit[0].rank_high
    return [entry for entry in fit if entry.rank_low is not None and entry.rank_low <= last]


def _would_fill(cohorts: Sequence[CohortRow], name: SlotName) -> str:
    """What the first cohort says would fill the slot."""
    for row in cohorts:
        fills = row.best.get(name, {}).get("fills")
        if fills:
            return str(fills)
    return "an entry that the request's policy accepts" if cohorts else "a run of this workload"
