"""Several groups beside each other in words: what sets each apart, who leads, by how much.

Nothing here is escaped or coloured; a terminal and a page each make it safe their own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.resolve.numbers import ratio_text, scale_for
from kernelindex.resolve.row_words import interval_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.resolve.answer import Cohort, CohortHead, Entry


def open_words(cohorts: Sequence[CohortHead], *, with_protocol: bool = True) -> list[str]:
    """For each group the operation, axes, dtypes, rules and source in which they differ."""
    several = len({cohort.operation for cohort in cohorts}) > 1
    axes = _differing_axes(cohorts)
    dtypes = len({dtypes_of(cohort) for cohort in cohorts}) > 1
    protocols = with_protocol and len(set(map(protocol_words, cohorts))) > 1
    sources = _sources_say_more(cohorts, protocols=protocols)
    return [
        " ".join(
            filter(
                None,
                [
                    operation_words(cohort.operation, cohort.operation_title) if several else "",
                    *(f"{a}={cohort.shape.axes[a]}" for a in axes if a in cohort.shape.axes),
                    dtypes_of(cohort) if dtypes else "",
                    f"({cohort.source})" if sources else "",
                    f"({protocol_words(cohort)})" if protocols else "",
                    *(_rule(cohort, rule) for rule in _differing_rules(cohort, cohorts)),
                ],
            )
        )
        for cohort in cohorts
    ]


def _differing_axes(cohorts: Sequence[CohortHead]) -> list[str]:
    names = dict.fromkeys(name for cohort in cohorts for name in cohort.shape.axes)
    return [name for name in names if len({c.shape.axes.get(name) for c in cohorts}) > 1]


def protocol_words(cohort: CohortHead) -> str:
    """The source's harness, or that it was our own controlled protocol."""
    return "controlled" if cohort.profile == "controlled" else cohort.protocol.name


def _sources_say_more(cohorts: Sequence[CohortHead], *, protocols: bool) -> bool:
    """Whether sources differ, also where the protocol is shown already."""
    seen = {(protocol_words(one) if protocols else "", one.source) for one in cohorts}
    return len(seen) > len({protocol for protocol, _ in seen})


def _differing_rules(cohort: CohortHead, cohorts: Sequence[CohortHead]) -> list[str]:
    """Rules that differ between groups of this one's pass and protocol."""
    own = [one for one in cohorts if _setting(one) == _setting(cohort)]
    names = dict.fromkeys(name for one in own for name in one.protocol.rules)
    return [name for name in names if len({one.protocol.rules.get(name) for one in own}) > 1]


def _setting(cohort: CohortHead) -> tuple[str, str]:
    return cohort.timed_pass, protocol_words(cohort)


def _rule(cohort: CohortHead, name: str) -> str:
    value = cohort.protocol.rules.get(name)
    if not value:
        return ""
    if name == "gradients":
        return f"({value.replace('_', '-')} weights)"
    return f"({value.replace('_', ' ').replace(',', ', ')})"


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


def interval_of_leader(cohort: Cohort) -> str:
    """The leader's 95 % interval in the unit of its value, or nothing."""
    if not cohort.entries:
        return ""
    primary = cohort.entries[0].run.primary
    return interval_words(cohort.entries[0], scale_for([primary.value], primary.unit))


def level_of_leader(cohort: Cohort) -> str:
    """How far the leader's number may be trusted."""
    return cohort.entries[0].evidence if cohort.entries else ""


def ahead_words(cohort: Cohort) -> str:
    """How far the first is ahead of the first that is surely behind."""
    behind = next((one for one in cohort.entries if _is_behind(one)), None)
    if behind is None or not behind.ratio_to_leader:
        return ""
    ratio = behind.ratio_to_leader
    return ratio_text(ratio if ratio >= 1 else 1 / ratio)


def _is_behind(entry: Entry) -> bool:
    return entry.rank is not None and entry.rank.low > 1
