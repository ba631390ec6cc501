from __future__ import annotations

from dataclasses import replace
from typing import Any

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.resolve.ask import ask_text
from kernelindex.resolve.rerun_words import rerun_words, reruns_on_device
from tests.resolve.factories import (
    RECORD_QUERY,
    FakeCatalog,
    cohort_row,
    digest,
    entry_row,
    loop_row,
)

SHAPE = digest("one shape")


def reported(key: str = "reported", **changes: Any) -> CohortRow:
    return cohort_row(key, shape_key=SHAPE, **changes)


def controlled(load: str = "sustained", **changes: Any) -> CohortRow:
    rules = {"load": load, "gradients": "leaf"}
    fields: dict[str, Any] = {
        "profile": "controlled",
        "source": "kernelindex-runner",
        "protocol": {"name": "kernelindex-runner", "version": "1", "rules": rules},
        **changes,
    }
    return cohort_row(load, shape_key=SHAPE, **fields)


def words(row: CohortRow, *others: tuple[CohortRow, list[EntryRow]]) -> str:
    entries = {one.key: found for one, found in others}
    return rerun_words(row, [entry_row(row)], [one for one, _ in others], entries)


def test_a_reported_group_says_what_its_leader_reruns_at() -> None:
    again = controlled()
    assert words(reported(), (again, [entry_row(again, value=4.35e6)])) == (
        "rerun on H100: 4.35 ms sustained"
    )


def test_what_reruns_others_of_a_group_is_counted() -> None:
    again = controlled()
    both = [entry_row(reported()), loop_row(reported())]
    found = {again.key: [loop_row(again)]}
    assert rerun_words(reported(), both, [again], found) == "1 of 2 rerun on H100"


def test_only_where_nothing_was_rerun_is_it_denied() -> None:
    again = controlled()
    assert words(reported()) == "not rerun on H100"
    other = [loop_row(again)]
    assert words(reported(), (controlled(entry_count=1), other)) == "not rerun on H100"
    assert words(reported(), (again, other)) == ""  # one of its two entries was not read


def test_a_controlled_group_is_itself_a_rerun() -> None:
    assert words(controlled()) == ""


def test_another_card_or_pass_reruns_nothing() -> None:
    card = {**reported().device, "product_id": "h200-sxm-141gb", "label": "H200"}
    assert reruns_on_device(reported(), [controlled(device=card)]) == []
    assert reruns_on_device(reported(), [controlled(timed_pass="full")]) == []
    unstated = reported(timed_pass="unstated")
    assert len(reruns_on_device(unstated, [controlled(timed_pass="full")])) == 1


def test_an_answer_denies_no_rerun_that_stands_beside_it() -> None:
    row, again = reported(), controlled(only_result=True, entry_count=1)
    pairs = [
        (row, [entry_row(row), loop_row(row)]),
        (again, [entry_row(again, value=4.35e6)]),
    ]
    source = f"{RECORD_QUERY} source:liger-kernel-bench"
    answer = ask_text(FakeCatalog(pairs), source)
    assert len(answer.cohorts) == 1
    assert "rerun on H100: 4.35 ms sustained" in answer.summary
    assert answer.cohorts[0].summary == answer.summary
    assert not any("rerun" in said for said in answer.missing if "No controlled" in said)


def test_burst_and_sustained_are_told_apart_in_sentence_and_near_misses() -> None:
    rows = [controlled("burst"), controlled("sustained")]
    full = [
        replace(controlled(load, timed_pass="full"), key=digest(f"full {load}"))
        for load in ("burst", "sustained")
    ]
    pairs = [(row, [entry_row(row), loop_row(row)]) for row in (*rows, *full)]
    answer = ask_text(FakeCatalog(pairs), RECORD_QUERY)
    assert "backward (burst): " in answer.summary
    assert "backward (sustained): " in answer.summary
    near = ["; ".join(one.text for one in miss.differences) for miss in answer.nearest]
    assert sorted(near) == [
        f"full pass; controlled protocol 1, {load}, leaf weights" for load in ("burst", "sustained")
    ]
