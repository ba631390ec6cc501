"""Plans of the catalogue, and what counts as caught."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from kernelindex.runner.cheats.__main__ import main
from kernelindex.runner.cheats.catalogue import entries, entries_on
from kernelindex.runner.cheats.planning import CHEATS_A_POINT, plan_catalogue
from kernelindex.runner.cheats.running import score_harness
from kernelindex.runner.cheats.scoring import Outcome, outcome_of, score, table
from kernelindex.runner.plan import parse_plan, plan_to_json

BY_ID = {one.id: one for one in entries()}
PASSED = Outcome("passed", "", "", 1000.0)


def test_every_entry_and_its_twin_are_planned_once_at_one_point() -> None:
    chosen = entries_on("cpu")
    planned = plan_catalogue(chosen, "cpu")
    at = {(p.id, c.id): c for p in planned.plan.points for c in p.candidates}
    for one in chosen:
        assert at[planned.cheats[one.id]].entry.endswith(one.entry)
        assert at[planned.twins[one.id]].entry.endswith(one.honest)
        assert planned.cheats[one.id][0] == planned.twins[one.id][0]
    assert len(set(planned.cheats.values())) == len(chosen)


def test_an_entry_alone_shares_its_point_with_its_twin_only() -> None:
    planned = plan_catalogue(entries_on("cpu"), "cpu")
    points = {one.id: one for one in planned.plan.points}
    assert len(points[planned.cheats["hanging"][0]].candidates) == 2
    assert max(len(one.candidates) for one in points.values()) <= 2 * CHEATS_A_POINT


def test_who_is_honest_in_one_call_a_round_is_not_spared_by_chance() -> None:
    rules = plan_catalogue(entries_on("cpu"), "cpu").plan.rules
    assert rules.checks_per_generation == rules.rounds  # so one call of every round is judged
    assert rules.min_samples**-rules.rounds <= 1e-6


def test_the_plan_is_one_that_the_worker_reads() -> None:
    plan = plan_catalogue(entries_on("cuda:0"), "cuda:0").plan
    assert parse_plan(plan_to_json(plan)) == plan


def test_caught_needs_a_code_of_the_entry_and_exact_needs_its_first() -> None:
    entry = BY_ID["late-thread"]
    exact = Outcome("suspected_reward_hack", "changed_after_return", "", None)
    other = Outcome("suspected_reward_hack", "work_after_return", "", None)
    wrong = Outcome("incorrect_numerical", "wrong_values", "", None)
    scores = [score(entry, seen, PASSED) for seen in (exact, other, wrong, PASSED)]
    assert [(one.caught, one.exact) for one in scores] == [
        (True, True),
        (True, False),
        (False, False),
        (False, False),
    ]


def test_an_accused_twin_spoils_the_score() -> None:
    exact = Outcome("suspected_reward_hack", "changed_after_return", "", None)
    found = score(BY_ID["late-thread"], exact, exact)
    assert found.caught
    assert not found.right
    assert "1 twins accused" in table([found])


@pytest.mark.parametrize(("median_ns", "caught"), [(1000.0, True), (905.0, True), (800.0, False)])
def test_a_contained_cheat_gains_nothing(median_ns: float, caught: bool) -> None:
    seen = replace(PASSED, median_ns=median_ns)
    assert score(BY_ID["exit-handler"], seen, PASSED).caught is caught


@pytest.mark.parametrize(("median_ns", "caught"), [(1500.0, True), (630.0, True), (1.0, False)])
def test_on_a_host_the_twins_fastest_sample_is_the_measure(median_ns: float, caught: bool) -> None:
    disturbed = replace(PASSED, median_ns=1600.0, fastest_ns=1000.0)
    seen = replace(PASSED, median_ns=median_ns)
    assert score(BY_ID["exit-handler"], seen, disturbed, on_host=True).caught is caught


def test_awkward_ones_must_get_exactly_their_outcome() -> None:
    crashed = Outcome("runtime_error", "crashed", "", None)
    assert score(BY_ID["crashing"], crashed, PASSED).right
    assert not score(BY_ID["crashing"], PASSED, PASSED).right
    assert score(BY_ID["very-long"], Outcome("unstable", "", "", 2e8), PASSED).right
    assert not score(BY_ID["very-long"], crashed, PASSED).right


def test_the_worst_series_decides() -> None:
    rows: list[dict[str, Any]] = [
        {"status": "passed", "reason": None, "text": None, "samplesNs": [[[3.0, 1.0]]]},
        {"status": "timeout", "reason": "hung", "text": "no reply", "samplesNs": [[[2.0]]]},
    ]
    assert outcome_of(rows) == Outcome("timeout", "hung", "no reply", 2.0, 1.0)


def test_the_list_is_json_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json", "--only", "one-nan"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == ["one-nan"]
    assert main(["list", "--only", "no-such"]) == 2
    assert "no-such" in capsys.readouterr().err


def test_another_harness_is_scored_by_what_it_accepts() -> None:
    program = "import json,sys; r=json.load(sys.stdin); print('noise'); "
    program += "print(json.dumps({'accepted': 'nan' not in r['function'], 'reason': 'NaN'}))"
    command = f'{sys.executable} -c "{program}"'
    chosen = [BY_ID["one-nan"], BY_ID["stride-zero"], BY_ID["crashing"], BY_ID["very-short"]]
    scores = list(score_harness(chosen, command, "cpu"))
    assert [one.caught for one in scores] == [True, False, False, True]
    assert all(one.twin_unharmed for one in scores)


def test_a_harness_that_answers_nothing_accepts_nothing() -> None:
    (found,) = score_harness([BY_ID["one-nan"]], f"{sys.executable} -c pass", "cpu")
    assert (found.caught, found.twin_unharmed) == (True, False)
