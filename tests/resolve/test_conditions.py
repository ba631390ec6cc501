"""Conditions on an entry: what lacks them is in no list, is counted, and moves no rank."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kernelindex.resolve import Answer, ask_text
from kernelindex.resolve.group_words import lead_heading, leader_name, leads_ahead, unmet_groups
from kernelindex.resolve.row_words import unmet_words
from tests.resolve.factories import (
    RECORD,
    RECORD_QUERY,
    FakeCatalog,
    cohort_row,
    entry_row,
    loop_row,
    pair,
    record_catalog,
)
from tests.support import shipped

if TYPE_CHECKING:
    from kernelindex.catalog.rows import CohortRow, EntryRow

VERIFIED = f"{RECORD_QUERY} evidence:verified"
WORKLOAD = "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16"
LEVELS = ("reported", "reproducible", "verified", "replicated")


def second_verified(key: str = "moe", **changes: object) -> tuple[CohortRow, list[EntryRow]]:
    """A group whose leader is only reported, and whose second is verified."""
    row = cohort_row(key, **changes)
    return row, [entry_row(row), loop_row(row, evidence="verified")]


@pytest.mark.parametrize(
    ("asked", "left_out"),
    [
        ("evidence:verified", "2 runs below verified"),
        ("framework:liger", "2 runs not of liger"),
        ("installable:yes", "2 runs not installable"),
        (
            "license:MIT evidence:verified",
            "2 runs below verified and without a stated licence",
        ),
    ],
)
def test_where_nothing_meets_them_the_summary_says_what_was_left_out(
    asked: str, left_out: str
) -> None:
    answer = ask_text(record_catalog(), f"{RECORD_QUERY} {asked}")
    assert answer.summary == f"No entry shown here meets {asked}. Left out: {left_out}."
    assert answer.match == "exact"
    assert (answer.cohorts, answer.cohorts_not_met) == ((), 1)
    assert answer.best.reported.picks == ()
    assert sum(one.runs for one in answer.excluded_counts) == 2
    (without,) = (one for one in answer.suggestions if one.query == RECORD_QUERY)
    assert without.text == "without conditions, with the 2 runs that do not meet them"


def test_every_reason_is_listed() -> None:
    answer = ask_text(record_catalog(), f"{VERIFIED} installable:yes")
    assert [reason.code for reason in answer.excluded[0].reasons] == [
        "evidence_below_minimum",
        "not_installable",
    ]


def test_rows_below_the_level_are_left_out_counted_and_keep_their_place() -> None:
    answer = ask_text(FakeCatalog([second_verified()]), VERIFIED)
    (cohort,) = answer.cohorts
    (entry,) = cohort.entries
    assert entry.evidence == "verified"
    assert (entry.rank.low, entry.rank.high, entry.position) == (2, 2, 2)
    assert (cohort.entry_count, cohort.entries_not_met, cohort.entries_left_out) == (2, 1, 0)
    assert answer.summary == (
        "Best that meets evidence:verified: H100 SXM 80GB backward: a copy of the Transformers loop"
        " 64.0 ms. Left out: 1 run below verified; ranks and ratios are as among all entries."
    )
    assert cohort.summary == (
        "a copy of the Transformers loop ranks 2 (only 2 measured), 64.0 ms."
        " Verified, one sample each."
    )
    assert unmet_words(cohort) == (
        "1 more does not meet the conditions asked for; ranks and ratios are among all 2"
    )
    assert leader_name(cohort) == "MoE expert loop (ranks 2)"
    assert leads_ahead([cohort]) == [""]
    assert lead_heading([cohort]) == "first of those"


def test_a_condition_is_looked_for_beyond_the_entries_shown() -> None:
    row = cohort_row(entry_count=80)
    rows = [
        entry_row(row, f"n{place}", position=place, rank_low=place, rank_high=place)
        for place in range(1, 81)
    ]
    rows[69] = replace(rows[69], evidence="verified")
    answer = ask_text(FakeCatalog([(row, rows)]), VERIFIED)
    (entry,) = answer.cohorts[0].entries
    assert (entry.run.digest, entry.rank.low) == (rows[69].run_digest, 70)
    assert answer.best.reported.picks[0].runs == (rows[69].run_digest,)
    assert answer.cohorts[0].entries_not_met == 79


def test_and_in_groups_beyond_those_shown() -> None:
    many = [pair(f"size {n}", axes={**RECORD, "tokens": n}) for n in range(40)]
    wanted = second_verified("last", axes={**RECORD, "tokens": 99})
    answer = ask_text(FakeCatalog([*many, wanted]), "fused-moe bf16 gpu:H100 evidence:verified")
    assert [cohort.shape.axes["tokens"] for cohort in answer.cohorts] == [99]
    assert (answer.cohorts_not_met, answer.cohorts_left_out) == (40, 0)
    assert unmet_groups(answer) == ("40 more groups fit, but nothing in them meets the conditions")
    assert answer.excluded_counts[0].runs == 81


def test_near_misses_are_of_what_meets_them() -> None:
    catalog = FakeCatalog(
        [
            pair("backward"),
            pair("full", timed_pass="full"),
            second_verified("f", timed_pass="forward"),
        ]
    )
    answer = ask_text(catalog, VERIFIED)
    (near,) = answer.nearest
    assert near.cohort.timed_pass == "forward"
    assert near.cohort.leader.startswith("a copy of the Transformers loop ranks 2")


def test_sides_of_an_unmeasured_shape_say_where_nothing_meets_them() -> None:
    sides = [
        pair("low", axes={**RECORD, "experts": 8}),
        second_verified("high", axes={**RECORD, "experts": 128}),
    ]
    answer = ask_text(FakeCatalog(sides), VERIFIED)
    assert answer.match == "nearest"
    (between,) = answer.neighbours
    assert between.below.leader == "nothing that meets evidence:verified"
    assert between.above.leader.startswith("a copy of the Transformers loop ranks 2")
    assert between.leaders_agree is None
    alone = ask_text(FakeCatalog(sides[:1]), VERIFIED)
    assert alone.match == "none"
    assert alone.summary == (
        "Nothing measured here that meets evidence:verified is near this question."
    )


def test_a_pass_that_was_measured_without_meeting_them_is_not_called_unmeasured() -> None:
    catalog = FakeCatalog([pair("backward"), second_verified("f", timed_pass="forward")])
    answer = ask_text(catalog, VERIFIED.replace("pass:backward ", ""))
    told = {block.timed_pass: (block.measured, block.text) for block in answer.blocks}
    assert told["backward"] == (True, "backward: nothing that meets the conditions")
    assert told["full"] == (False, "full: not measured here")


def levels_in(answer: Answer) -> set[str]:
    return {entry.evidence for cohort in answer.cohorts for entry in cohort.entries}


@pytest.mark.parametrize("least", LEVELS)
@pytest.mark.parametrize("where", ["gpu:H200 pass:forward", "", "gpu:H100 pass:backward"])
def test_every_list_of_an_answer_has_the_level_asked_for(least: str, where: str) -> None:
    catalog = shipped.shipped()
    answer = ask_text(catalog, f"{WORKLOAD} {where} evidence:{least}")
    runs = {run.digest: run.evidence for run in shipped.all_runs()}
    listed = {one.run.digest for cohort in answer.cohorts for one in cohort.entries}
    slots = (answer.best.reported, answer.best.verified, answer.best.deployable)
    listed |= {run for slot in slots for pick in slot.picks for run in pick.runs}
    listed |= {run for one in answer.reruns for run in (one.reported, one.controlled)}
    assert {runs[run] for run in listed} <= set(LEVELS[LEVELS.index(least) :])
    left_out = {one.run for one in answer.excluded if one.reasons[0].code.startswith("evidence")}
    assert not left_out & listed
    for cohort in answer.cohorts:
        all_of_it = catalog.entries((cohort.key,))[cohort.key]
        ranks = {one.entry_key: (one.rank_low, one.rank_high) for one in all_of_it}
        assert cohort.entry_count == len(all_of_it)
        for entry in cohort.entries:
            assert entry.rank is None or (entry.rank.low, entry.rank.high) == ranks[entry.key]
