from __future__ import annotations

import pytest

from kernelindex.resolve.wording import cohort_summary, leader_words, listed
from tests.resolve.factories import cohort_row, entry_row


@pytest.mark.parametrize(
    ("names", "unnamed", "said"),
    [
        ([], 0, ""),
        (["a"], 0, "a"),
        (["a", "b"], 0, "a and b"),
        (["a", "b", "c"], 0, "a, b and c"),
        (["a", "b", "c", "d", "e"], 0, "a, b, c and 2 more"),
        (["a", "b"], 3, "a, b and 3 more"),
    ],
)
def test_names_are_listed_up_to_three(names: list[str], unnamed: int, said: str) -> None:
    assert listed(names, unnamed=unnamed) == said


def test_revisions_of_one_line_are_said_once() -> None:
    row = cohort_row("r", entry_count=9, unbeaten=("a", "b", "c", "d"))
    entries = [
        entry_row(row, "mine", position=place, rank_high=4, revision=f"v{place}")
        for place in (1, 2, 3)
    ]
    assert leader_words(row, entries) == (
        "Mine (3 revisions) and 1 more are not told apart of 9 measured, 5.75 ms"
    )


def test_who_is_unbeaten_but_not_surely_first_does_not_lead() -> None:
    row = cohort_row("u", entry_count=4)
    entries = [entry_row(row, rank_high=3), entry_row(row, "b", position=2, rank_low=2)]
    assert leader_words(row, entries) == (
        "Liger is unbeaten of 4 measured, but not surely first, 5.75 ms"
    )


def test_the_next_of_the_same_line_is_named_with_its_revision() -> None:
    row = cohort_row("n", entry_count=2)
    entries = [
        entry_row(row),
        entry_row(row, position=2, rank_low=2, rank_high=2, ratio_to_leader=1.5, revision="0.6.0"),
    ]
    assert "1.50x ahead of Liger 0.6.0" in cohort_summary(row, entries)


def test_a_verified_entry_is_not_said_to_lack_a_rerun() -> None:
    best = {"verified": {"entries": ["k"], "only_result": False, "fills": None}}
    row = cohort_row("v", best=best, shared_doubts=())
    levels = ("verified", "reported")
    entries = [
        entry_row(row, name, evidence=level, position=place, rank_low=place, rank_high=place)
        for place, (name, level) in enumerate(zip("ab", levels, strict=True), start=1)
    ]
    summary = cohort_summary(row, entries)
    assert "1 reported and 1 verified" in summary
    assert "rerun" not in summary


def test_no_entry_is_said() -> None:
    assert cohort_summary(cohort_row("e", entry_count=0), []) == "No entry counts here."
