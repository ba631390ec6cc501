"""Best reported, verified and deployable: three answers picked from stored ranks.

Among a subset of a cohort the stored ranges still hold: an entry is surely behind another
when its range starts after the other's ends. What is not surely behind is named together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.resolve.answer import Best, Pick, Slot
from kernelindex.resolve.wording import CONTROLLED_LEVELS, cohort_scale, line_name, listed

Test = Callable[[EntryRow], bool]


def pick_best(
    cohorts: Sequence[CohortRow],
    entries: Mapping[str, Sequence[EntryRow]],
    allowed: Test,
) -> Best:
    """The three bests over all cohorts of an answer, among the entries policy allows."""

    def slot(test: Test, would_fill: str) -> Slot:
        picks = [
            pick
            for row in cohorts
            if (pick := _pick(row, entries.get(row.key, ()), lambda e: allowed(e) and test(e)))
        ]
        return Slot(picks=tuple(picks), would_fill=None if picks else would_fill)

    where = _where(cohorts)
    return Best(
        reported=slot(lambda entry: True, f"any eligible result{where}"),
        verified=slot(
            lambda entry: entry.evidence in CONTROLLED_LEVELS,
            f"a controlled run{where}, signed by an approved runner, with correctness passed",
        ),
        deployable=slot(lambda entry: entry.deployable, _deployable_needs(cohorts, entries, where)),
    )


def _pick(row: CohortRow, entries: Sequence[EntryRow], test: Test) -> Pick | None:
    fit = [entry for entry in entries if test(entry)]
    if not fit:
        return None
    ahead = _unbeaten(fit)
    alone = len(entries) == 1 and row.entry_count == 1
    scale = cohort_scale(entries)
    names = [f"{line_name(e)} {scale.with_unit(e.value)}" for e in ahead]
    return Pick(
        cohort=row.key,
        hardware=str(row.device.get("label", "")),
        timed_pass=row.timed_pass,
        how="only_result" if alone else "leads" if len(ahead) == 1 else "unbeaten",
        runs=tuple(entry.run_digest for entry in ahead),
        text=listed(names, "or"),
    )


def _unbeaten(fit: Sequence[EntryRow]) -> list[EntryRow]:
    """The first in stored order and those that are not surely behind it."""
    last = fit[0].rank_high
    if last is None:
        return [fit[0]]
    return [entry for entry in fit if entry.rank_low is not None and entry.rank_low <= last]


def _where(cohorts: Sequence[CohortRow]) -> str:
    labels = list(dict.fromkeys(str(row.device.get("label", "")) for row in cohorts))
    return f" on {listed(labels, 'or')}" if labels else ""


def _deployable_needs(
    cohorts: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]], where: str
) -> str:
    """What the entry nearest to deployable lacks."""
    every = [entry for row in cohorts for entry in entries.get(row.key, ()) if entry.why_not]
    if not every:
        return f"an entry{where} with source, pinned revision, licence and install recipe"
    nearest = min(every, key=lambda entry: (len(entry.why_not), entry.position))
    return f"{line_name(nearest)} would need: {'; '.join(nearest.why_not)}"
