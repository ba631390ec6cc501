"""What stands under a table of entries about those that it does not show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.resolve.views import view_cohort
from kernelindex.web.rows import build_rows
from tests.resolve.factories import cohort_row, entry_row


@pytest.mark.parametrize(
    ("unbeaten", "rest"),
    [
        (1, "and 25 more, behind these"),
        (5, "and 25 more, behind these"),
        (12, "and 25 more, 7 of them unbeaten too"),
        (30, "and 25 more, unbeaten too"),
    ],
)
def test_entries_that_are_not_shown_are_behind_only_where_they_are(
    unbeaten: int, rest: str
) -> None:
    row = replace(cohort_row("many", entry_count=30), unbeaten=tuple(map(str, range(unbeaten))))
    entries = [
        entry_row(row, f"n{i}", position=i + 1, rank_low=1 if i < unbeaten else i + 1, rank_high=30)
        for i in range(30)
    ]
    assert build_rows(view_cohort(row, entries, limit=30), most=5).rest == rest
    assert build_rows(view_cohort(row, entries, limit=30), most=30).rest == ""
