"""Where a run stands: its place, its distance to the first, its evidence ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.ids import short
from kernelindex.policy.facts import LEVELS, Profile
from kernelindex.resolve.dossier import Ladder, Standing
from kernelindex.resolve.numbers import ratio_text, scale_for
from kernelindex.resolve.run_lines import view_rank
from kernelindex.resolve.views import regime_of
from kernelindex.resolve.withdrawn import shown_status
from kernelindex.resolve.wording import entry_name, half_width, leader_words, line_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow


def view_standing(run: RunRow, cohort: CohortRow | None, entries: Sequence[EntryRow]) -> Standing:
    """The run's place among the entries of its cohort; a sentence where it has none."""
    entry = next((one for one in entries if one.entry_key == run.entry_key), None)
    if cohort is None or entry is None or run.reasons:
        return Standing(text=_why_unranked(run), cohort=cohort.key if cohort else None)
    alone = cohort.only_result
    by_another = entry.run_digest if entry.run_digest != run.digest else None
    place = _place(entry, entries, cohort)
    return Standing(
        text=f"its entry stands by run {short(by_another)}: {place}" if by_another else place,
        cohort=cohort.key,
        rank=view_rank(run),
        entry_count=cohort.entry_count,
        only_result=alone,
        ratio_to_leader=None if alone else entry.ratio_to_leader,
        leader_run=entries[0].run_digest,
        leader=leader_words(cohort, entries),
        represented_by=by_another,
    )


def view_ladder(run: RunRow) -> Ladder:
    """The four levels, the one reached, and what the next one lacks.

    Evidence counts only of a run that stands: of another one the next level lacks just that.
    """
    levels = tuple(str(level) for level in LEVELS)
    place = levels.index(run.evidence)
    return Ladder(
        levels=levels,
        reached=run.evidence,
        next=levels[place + 1] if place + 1 < len(levels) else None,
        missing=_fallen(run) or run.evidence_missing,
    )


def _fallen(run: RunRow) -> tuple[str, ...]:
    """Why a run reaches no further level whatever evidence it has; empty where it stands."""
    codes = {reason["code"] for reason in run.reasons}
    if "retracted" in codes:
        return ("a run that stands: this one was withdrawn",)
    if "not_passed" in codes:
        return (f"a run that passed: this one is {run.status.replace('_', ' ')}",)
    if "superseded" in codes:
        return ("a run that stands: this one is superseded",)
    return ()


def dossier_summary(run: RunRow, standing: Standing) -> str:
    """Value, standing and evidence in one or two sentences."""
    if run.value is None or run.unit is None:
        said = f"{standing.text[:1].upper()}{standing.text[1:]}"
        return f"{shown_status(run)}: no number to rank. {said}."
    value = scale_for([run.value], run.unit).with_unit(run.value, half_width(run))
    samples = {None: "samples not stated", 1: "one sample"}.get(
        run.sample_count, f"{run.sample_count} samples"
    )
    regime = f", {regime_of(run)}" if run.profile == Profile.CONTROLLED else ""
    what = f"{run.statistic} {run.metric}{regime}"
    return f"{value} ({what}, {samples}); {standing.text}. {run.evidence.capitalize()}."


def _place(entry: EntryRow, entries: Sequence[EntryRow], cohort: CohortRow) -> str:
    if cohort.only_result or entry.rank_low is None:
        return "only result: nothing to rank it against"
    span = str(entry.rank_low)
    if entry.rank_high != entry.rank_low:
        span = f"{entry.rank_low}-{entry.rank_high}"
    place = f"{span} of {cohort.entry_count}"
    if entry.position == 1:
        return f"{place}{_lead(entries)}"
    ratio = entry.ratio_to_leader
    if ratio is None:
        return place
    apart = ratio_text(ratio if ratio >= 1 else 1 / ratio)
    if entry.rank_low == 1:
        return f"{place}, {apart} from #1 but not told apart from it"
    return f"{place}, {apart} behind #1"


def _lead(entries: Sequence[EntryRow]) -> str:
    """How far the first is ahead of what is surely behind, or that it is not alone."""
    if len(entries) > 1 and entries[1].rank_low == 1:
        return f", not told apart from {line_name(entries[1])}"
    behind = next((one for one in entries if (one.rank_low or 1) > 1), None)
    if behind is None or behind.ratio_to_leader is None:
        return ""
    ratio = behind.ratio_to_leader
    ahead = ratio_text(ratio if ratio >= 1 else 1 / ratio)
    return f", {ahead} ahead of {entry_name(behind, entries)}"


def _why_unranked(run: RunRow) -> str:
    if run.retracted:
        return f"retracted: {run.retracted}"
    if run.reasons:
        return "does not rank: " + "; ".join(str(reason["text"]) for reason in run.reasons)
    return "does not rank: nothing comparable is stored"
