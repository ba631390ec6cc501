"""Several groups beside each other in words: what sets each apart, who leads, by how much.

Nothing here is escaped or coloured; a terminal and a page each make it safe their own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import ratio_text, scale_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import Cohort, CohortHead, Entry


def open_words(cohorts: Sequence[CohortHead], *, with_protocol: bool = True) -> list[str]:
    """For each group the operation, axes, dtypes, rules and source in which they differ."""
    several = len({cohort.operation for cohort in cohorts}) > 1
    axes = _differing_axes(cohorts)
    dtypes = len({dtypes_of(cohort) for cohort in cohorts}) > 1
    rules = _differing_rules(cohorts)
    protocols = with_protocol and len({cohort.protocol.name for cohort in cohorts}) > 1
    sources = len({cohort.source for cohort in cohorts}) > 1
    return [
        " ".join(
            filter(
                None,
                [
                    operation_words(cohort.operation, cohort.operation_title) if several else "",
                    *(f"{a}={cohort.shape.axes[a]}" for a in axes if a in cohort.shape.axes),
                    dtypes_of(cohort) if dtypes else "",
                    *(_rule(cohort, rule) for rule in rules),
                    f"({cohort.source})" if sources else "",
                    f"({cohort.protocol.name})" if protocols else "",
                ],
            )
        )
        for cohort in cohorts
    ]


def _differing_axes(cohorts: Sequence[CohortHead]) -> list[str]:
    names = dict.fromkeys(name for cohort in cohorts for name in cohort.shape.axes)
    return [name for name in names if len({c.shape.axes.get(name) for c in cohorts}) > 1]


def _differing_rules(cohorts: Sequence[CohortHead]) -> list[str]:
    """Rules that differ within one protocol; those of different protocols say nothing."""
    if len({cohort.protocol.name for cohort in cohorts}) > 1:
        return []
    names = dict.fromkeys(name for cohort in cohorts for name in cohort.protocol.rules)
    passes = {cohort.timed_pass for cohort in cohorts}
    return [name for name in names if any(_varies(cohorts, one, name) for one in passes)]


def _varies(cohorts: Sequence[CohortHead], timed_pass: str, rule: str) -> bool:
    own = [cohort for cohort in cohorts if cohort.timed_pass == timed_pass]
    return len({cohort.protocol.rules.get(rule) for cohort in own}) > 1


def _rule(cohort: CohortHead, name: str) -> str:
    value = cohort.protocol.rules.get(name)
    return f"({value.replace('_', ' ')})" if value else ""


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


def leader_name(cohort: Cohort) -> str:
    """The name of who leads alone, or of the first and how many more are unbeaten."""
    if not cohort.entries:
        return "no entry counts"
    name = cohort.entries[0].implementation.title
    if cohort.only_result:
        return f"{name} (only result)"
    rivals = len(cohort.unbeaten) - 1
    return f"{name} or {rivals} more" if rivals > 0 else name


def value_words(cohort: Cohort) -> str:
    """The leader's value in its own unit."""
    if not cohort.entries:
        return ""
    primary = cohort.entries[0].run.primary
    return scale_for([primary.value], primary.unit).with_unit(primary.value)


def ahead_words(cohort: Cohort) -> str:
    """How far the first is ahead of the first that is surely behind."""
    behind = next((one for one in cohort.entries if _is_behind(one)), None)
    if behind is None or not behind.ratio_to_leader:
        return ""
    ratio = behind.ratio_to_leader
    return ratio_text(ratio if ratio >= 1 else 1 / ratio)


def _is_behind(entry: Entry) -> bool:
    return entry.rank is not None and entry.rank.low > 1
