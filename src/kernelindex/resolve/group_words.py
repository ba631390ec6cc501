"""Several groups beside each other in words: what sets each apart, who leads, by how much.

Nothing here is escaped or coloured; a terminal and a page each make it safe their own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.columns import (
    show_intervals_beside,
    show_ratios,
    show_with_units,
    stored_of,
)
from kernelindex.resolve.regime import differing_words, timing_of
from kernelindex.resolve.row_words import range_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import Answer, Cohort, CohortHead, Entry
    from kernelindex.resolve.columns import Stored


def open_words(cohorts: Sequence[CohortHead], *, with_protocol: bool = True) -> list[str]:
    """For each group the operation, axes, dtypes, source and timing in which they differ."""
    several = len({cohort.operation for cohort in cohorts}) > 1
    axes = _differing_axes(cohorts)
    dtypes = len({dtypes_of(cohort) for cohort in cohorts}) > 1
    timed = differing_words(list(map(timing_of, cohorts)), with_protocol=with_protocol)
    sources = _sources_say_more(cohorts, timed)
    return [
        " ".join(
            filter(
                None,
                [
                    operation_words(cohort.operation, cohort.operation_title) if several else "",
                    *(f"{a}={cohort.shape.axes[a]}" for a in axes if a in cohort.shape.axes),
                    dtypes_of(cohort) if dtypes else "",
                    f"({cohort.source})" if sources else "",
                    f"({regime})" if regime else "",
                ],
            )
        )
        for cohort, regime in zip(cohorts, timed, strict=True)
    ]


def _differing_axes(cohorts: Sequence[CohortHead]) -> list[str]:
    names = dict.fromkeys(name for cohort in cohorts for name in cohort.shape.axes)
    return [name for name in names if len({c.shape.axes.get(name) for c in cohorts}) > 1]


def _sources_say_more(cohorts: Sequence[CohortHead], timed: Sequence[str]) -> bool:
    """Whether sources differ, also where the timing is said already."""
    seen = {(regime, one.source) for one, regime in zip(cohorts, timed, strict=True)}
    return len(seen) > len({regime for regime, _ in seen})


def operation_words(operation: str, title: str) -> str:
    """The slug of an operation of ours, else its title: a digest says nothing."""
    return title or operation if operation.startswith("sha256:") else operation


def dtypes_of(cohort: CohortHead) -> str:
    """The element types of a shape, each once."""
    return "+".join(sorted(set(cohort.shape.dtypes.values())))


def place_words(cohorts: Sequence[CohortHead]) -> list[str]:
    """Device and pass, each only where it is not the same for all."""
    labels = len({cohort.hardware.label for cohort in cohorts}) > 1
    passes = len({cohort.timed_pass for cohort in cohorts}) > 1
    return [
        " ".join(
            filter(
                None,
                [
                    cohort.hardware.label if labels else "",
                    cohort.timed_pass.replace("unstated", "") if passes else "",
                ],
            )
        )
        for cohort in cohorts
    ]


def unmet_groups(answer: Answer) -> str:
    """How many groups have nothing that meets the question's conditions; empty where none."""
    count = answer.cohorts_not_met
    if count < 2:
        return "1 more group fits, but nothing in it meets the conditions" if count else ""
    return f"{count} more groups fit, but nothing in them meets the conditions"


def lead_heading(cohorts: Sequence[Cohort]) -> str:
    """What the first entries shown are: a question's conditions may leave the leaders out."""
    return "first of those" if any(one.entries_not_met for one in cohorts) else "leads"


def leader_name(cohort: Cohort) -> str:
    """The name of who leads alone, or of the first and how many more are unbeaten."""
    if not cohort.entries:
        return "no entry counts"
    name = cohort.entries[0].implementation.title
    if cohort.only_result:
        return f"{name} (only result)"
    rank = cohort.entries[0].rank
    if rank is not None and rank.low > 1:
        return f"{name} (ranks {range_words(rank)})"
    rivals = len(cohort.unbeaten) - 1
    first = [one for one in cohort.entries if one.key in cohort.unbeaten]
    if rivals > 0 and len(first) > rivals and len({one.implementation.line for one in first}) == 1:
        return f"{name} ({len(first)} revisions)"
    return f"{name} or {rivals} more" if rivals > 0 else name


def leader_values(cohorts: Sequence[Cohort]) -> list[str]:
    """The leader's value of each group in its own unit."""
    return show_with_units([_of_leader(cohort) for cohort in cohorts])


def leader_intervals(cohorts: Sequence[Cohort]) -> list[str]:
    """The leader's 95 % interval of each group, in the unit of its value, or nothing."""
    return show_intervals_beside([_of_leader(cohort) for cohort in cohorts])


def _of_leader(cohort: Cohort) -> Stored | None:
    run = cohort.entries[0].run if cohort.entries else None
    return stored_of(run.primary, run.interval) if run else None


def level_of_leader(cohort: Cohort) -> str:
    """How far the leader's number may be trusted."""
    return cohort.entries[0].evidence if cohort.entries else ""


def leads_ahead(cohorts: Sequence[Cohort]) -> list[str]:
    """How far the first of each group is ahead of the first that is surely behind."""
    return show_ratios(list(map(_ahead, cohorts)))


def _ahead(cohort: Cohort) -> float | None:
    behind = next((one for one in cohort.entries if _is_behind(one)), None)
    if behind is None or not behind.ratio_to_leader or cohort.entries[0].position != 1:
        return None
    ratio = behind.ratio_to_leader
    return ratio if ratio >= 1 else 1 / ratio


def _is_behind(entry: Entry) -> bool:
    return entry.rank is not None and entry.rank.low > 1
