from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow
from kernelindex.resolve.standing import view_ladder, view_standing
from tests.resolve.factories import cohort_row, digest, entry_row, pair


def run_of(entry: EntryRow, **changes: Any) -> RunRow:
    """The parts of a run that its standing looks at."""
    fields = {
        "digest": entry.run_digest,
        "entry_key": entry.entry_key,
        "cohort_key": entry.cohort_key,
        "reasons": (),
        "retracted": None,
        "rank": {"low": entry.rank_low, "high": entry.rank_high},
        "evidence": "reported",
        "evidence_missing": ("raw samples",),
    }
    return cast("RunRow", SimpleNamespace(**{**fields, **changes}))


def three(*ranges: tuple[int, int]) -> tuple[CohortRow, list[EntryRow]]:
    row = cohort_row("three", entry_count=len(ranges))
    entries = [
        entry_row(
            row,
            name,
            position=place,
            rank_low=low,
            rank_high=high,
            ratio_to_leader=1.0 + (place - 1) / 10,
        )
        for place, (name, (low, high)) in enumerate(zip("abc", ranges, strict=False), start=1)
    ]
    return row, entries


@pytest.mark.parametrize(
    ("ranges", "place", "said"),
    [
        (((1, 1), (2, 2)), 0, "1 of 2, 1.10x ahead of B"),
        (((1, 1), (2, 2)), 1, "2 of 2, 1.10x behind #1"),
        (((1, 2), (1, 2), (3, 3)), 0, "1-2 of 3, not told apart from B"),
        (((1, 2), (1, 2), (3, 3)), 1, "1-2 of 3, 1.10x from #1 but not told apart from it"),
        (((1, 1), (2, 3), (2, 3)), 2, "2-3 of 3, 1.20x behind #1"),
    ],
)
def test_a_place_is_a_range_and_claims_no_more_than_it_may(
    ranges: tuple[tuple[int, int], ...], place: int, said: str
) -> None:
    row, entries = three(*ranges)
    assert view_standing(run_of(entries[place]), row, entries).text == said


def test_an_only_result_has_nothing_to_be_ranked_against() -> None:
    row = cohort_row("one", entry_count=1, only_result=True)
    entry = entry_row(row, rank_low=None, rank_high=None)
    standing = view_standing(run_of(entry, rank=None), row, [entry])
    assert standing.text == "only result: nothing to rank it against"
    assert (standing.rank, standing.ratio_to_leader) == (None, None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"retracted": "wrong card"}, "retracted: wrong card"),
        ({}, "does not rank: status is timeout"),
        ({"reasons": (), "entry_key": None}, "does not rank: nothing comparable is stored"),
    ],
)
def test_a_run_that_does_not_rank_says_why(changes: dict[str, Any], said: str) -> None:
    row, entries = pair("cohort")
    reasons = ({"code": "not_passed", "text": "status is timeout"},)
    run = run_of(entries[0], **{"reasons": reasons, **changes})
    assert view_standing(run, row, entries).text == said


def test_another_run_may_stand_for_the_entry() -> None:
    row, entries = pair("cohort")
    standing = view_standing(run_of(entries[0], digest=digest("other")), row, entries)
    assert standing.represented_by == entries[0].run_digest


@pytest.mark.parametrize(
    ("level", "following"), [("reported", "reproducible"), ("replicated", None)]
)
def test_the_ladder_names_the_next_level(level: str, following: str | None) -> None:
    _, entries = pair("cohort")
    ladder = view_ladder(run_of(entries[0], evidence=level))
    assert ladder.levels == ("reported", "reproducible", "verified", "replicated")
    assert (ladder.reached, ladder.next) == (level, following)
