"""A run reads the same in every sentence: in the digits that its interval allows."""

from __future__ import annotations

import re

from kernelindex.resolve.ask import ask_text
from kernelindex.resolve.group_words import leader_values
from kernelindex.resolve.numbers import half_of, scale_for
from kernelindex.resolve.row_words import half_width
from tests.resolve.factories import RECORD_QUERY, FakeCatalog, cohort_row, entry_row, loop_row

WIDE = {"low": 1.76e6, "high": 1.98e6}


def test_one_run_is_rounded_one_way_in_an_answer() -> None:
    row = cohort_row("wide", best={"reported": {"entries": []}})
    first = entry_row(row, value=1.871776e6, interval=WIDE, entry_key="key")
    answer = ask_text(FakeCatalog([(row, [first, loop_row(row)])]), RECORD_QUERY)
    (cohort,) = answer.cohorts
    shown = scale_for([1.871776e6], "ns").show(1.871776e6, half_width(cohort.entries[0]))
    assert (shown, leader_values([cohort])) == ("1.9", ["1.9 ms"])
    said = (answer.summary, cohort.leader, *(pick.text for pick in answer.best.reported.picks))
    assert [re.findall(r"1\.[89]\d* ms", text) for text in said] == [["1.9 ms"]] * len(said)


def test_without_an_interval_three_digits_are_shown() -> None:
    assert half_of(None) is None
    row = cohort_row("plain")
    answer = ask_text(FakeCatalog([(row, [entry_row(row), loop_row(row)])]), RECORD_QUERY)
    assert leader_values(answer.cohorts) == ["5.75 ms"]
