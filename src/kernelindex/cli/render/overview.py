"""Many groups, a row each: what sets it apart, who leads, by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.cli.render.tables import Column, align_decimal, build_table
from kernelindex.cli.terminal import clean
from kernelindex.resolve.columns import show_digits
from kernelindex.resolve.group_words import (
    lead_heading,
    leader_intervals,
    leader_name,
    leader_values,
    leads_ahead,
    level_of_leader,
    open_words,
    place_words,
)
from kernelindex.resolve.row_words import PERCENT_DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from kernelindex.resolve.answer import Cohort


def overview_table(cohorts: Sequence[Cohort], *, wide: bool) -> Table:
    """One row a group, in the order of the answer; values have their own units."""
    columns = (
        Column("workload", flexible=True),
        Column("on", flexible=True),
        Column(lead_heading(cohorts), flexible=True),
        Column("value", "right"),
        Column("95 % interval", "right"),
        Column("ahead", "right"),
        Column("% nominal", "right"),
        Column("of", "right"),
        Column("level"),
    )
    cells = (
        [clean(words) for words in open_words(cohorts)],
        [clean(place) for place in place_words(cohorts)],
        [clean(leader_name(cohort)) for cohort in cohorts],
        leader_values(cohorts),
        leader_intervals(cohorts),
        align_decimal(leads_ahead(cohorts)),
        align_decimal(show_digits(list(map(_percent, cohorts)), PERCENT_DIGITS))
        if wide
        else ["" for _ in cohorts],
        [str(cohort.entry_count) for cohort in cohorts],
        [level_of_leader(cohort) for cohort in cohorts],
    )
    return build_table(columns, list(zip(*cells, strict=True)))


def _percent(cohort: Cohort) -> float | None:
    limit = cohort.entries[0].limit if cohort.entries else None
    return limit.percent_nominal if limit else None
