"""Many groups, a row each: what sets it apart, who leads, by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.pairs import operation_words
from kernelindex.cli.render.tables import Column, align_decimal, build_table
from kernelindex.cli.terminal import clean
from kernelindex.resolve.numbers import ratio_text, scale_for, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from kernelindex.resolve.answer import Cohort, Entry


def overview_table(cohorts: Sequence[Cohort], *, wide: bool) -> Table:
    """One row a group, in the order of the answer; values have their own units."""
    columns = (
        Column("workload", flexible=True),
        Column("on", flexible=True),
        Column("leads", flexible=True),
        Column("value", "right"),
        Column("ahead", "right"),
        Column("% nominal", "right"),
        Column("of", "right"),
    )
    cells = (
        [clean(words) for words in open_words(cohorts)],
        _places(cohorts),
        [_leader(cohort) for cohort in cohorts],
        [_value(cohort) for cohort in cohorts],
        align_decimal([_ahead(cohort) for cohort in cohorts]),
        align_decimal([_percent(cohort) if wide else "" for cohort in cohorts]),
        [str(cohort.entry_count) for cohort in cohorts],
    )
    return build_table(columns, list(zip(*cells, strict=True)))


def open_words(cohorts: Sequence[Cohort], *, with_protocol: bool = True) -> list[str]:
    """For each group the operation, axes, dtypes, rules and source in which they differ."""
    several = len({cohort.operation for cohort in cohorts}) > 1
    axes = _differing_axes(cohorts)
    dtypes = len({_dtypes(cohort) for cohort in cohorts}) > 1
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
                    _dtypes(cohort) if dtypes else "",
                    *(_rule(cohort, rule) for rule in rules),
                    f"({cohort.source})" if sources else "",
                    f"({cohort.protocol.name})" if protocols else "",
                ],
            )
        )
        for cohort in cohorts
    ]


def _differing_axes(cohorts: Sequence[Cohort]) -> list[str]:
    names = dict.fromkeys(name for cohort in cohorts for name in cohort.shape.axes)
    return [name for name in names if len({c.shape.axes.get(name) for c in cohorts}) > 1]


def _differing_rules(cohorts: Sequence[Cohort]) -> list[str]:
    """Rules that differ within one protocol; those of different protocols say nothing."""
    if len({cohort.protocol.name for cohort in cohorts}) > 1:
        return []
    names = dict.fromkeys(name for cohort in cohorts for name in cohort.protocol.rules)
    passes = {cohort.timed_pass for cohort in cohorts}
    return [name for name in names if any(_varies(cohorts, one, name) for one in passes)]


def _varies(cohorts: Sequence[Cohort], timed_pass: str, rule: str) -> bool:
    own = [cohort for cohort in cohorts if cohort.timed_pass == timed_pass]
    return len({cohort.protocol.rules.get(rule) for cohort in own}) > 1


def _rule(cohort: Cohort, name: str) -> str:
    value = cohort.protocol.rules.get(name)
    return f"({value.replace('_', ' ')})" if value else ""


def _dtypes(cohort: Cohort) -> str:
    return "+".join(sorted(set(cohort.shape.dtypes.values())))


def _places(cohorts: Sequence[Cohort]) -> list[str]:
    """Device and pass, each only where it is not the same for all."""
    labels = len({cohort.hardware.label for cohort in cohorts}) > 1
    passes = len({cohort.timed_pass for cohort in cohorts}) > 1
    return [
        clean(
            " ".join(
                filter(
                    None,
                    [
                        cohort.hardware.label if labels else "",
                        cohort.timed_pass.replace("unstated", "") if passes else "",
                    ],
                )
            )
        )
        for cohort in cohorts
    ]


def _leader(cohort: Cohort) -> str:
    """The name of who leads alone, or of the first and how many more are unbeaten."""
    if not cohort.entries:
        return "no entry counts"
    name = clean(cohort.entries[0].implementation.title)
    if cohort.only_result:
        return f"{name} (only result)"
    rivals = len(cohort.unbeaten) - 1
    return f"{name} or {rivals} more" if rivals > 0 else name


def _value(cohort: Cohort) -> str:
    if not cohort.entries:
        return ""
    primary = cohort.entries[0].run.primary
    return scale_for([primary.value], primary.unit).with_unit(primary.value)


def _ahead(cohort: Cohort) -> str:
    """How far the first is ahead of the first that is surely behind."""
    behind = next((one for one in cohort.entries if _is_behind(one)), None)
    if behind is None or not behind.ratio_to_leader:
        return ""
    ratio = behind.ratio_to_leader
    return ratio_text(ratio if ratio >= 1 else 1 / ratio)


def _is_behind(entry: Entry) -> bool:
    return entry.rank is not None and entry.rank.low > 1


def _percent(cohort: Cohort) -> str:
    limit = cohort.entries[0].limit if cohort.entries else None
    if limit is None or limit.percent_nominal is None:
        return ""
    return significant(limit.percent_nominal, 2)
