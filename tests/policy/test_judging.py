from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.policy import POLICY_VERSION, JudgeContext, judge_cohort
from kernelindex.policy.doubts import PassTimes
from kernelindex.policy.facts import Correctness, Cost, Doubt, Level, RunFacts
from kernelindex.stats import Random
from tests.policy.factories import make_line, make_primary, make_product, make_run, on
from tests.policy.test_deployability import COMPLETE
from tests.policy.test_levels import FULL, REPRODUCIBLE

PRODUCT = make_product()
HARNESS = Doubt(code="HARNESS_WORK_IN_TIMED_REGION", effect="shifts", text="", shift_ns=1e6)
UNCHECKED = Correctness(asserted=False, comparator="not_asserted")
LIGER = make_run(
    "liger",
    5751872.0,
    sample_count=1,
    stack=(),
    correctness=UNCHECKED,
    source_doubts=(HARNESS,),
    cost=Cost(flops=1236950581248, bytes=10**9),
)
LOOP = replace(
    make_run("loop", 63962017.0),
    line=make_line("loop", restated=True),
    sample_count=1,
    stack=(),
    correctness=UNCHECKED,
    source_doubts=(HARNESS,),
    cost=LIGER.cost,
)


def context(**known: object) -> JudgeContext:
    plain: dict[str, object] = {
        "products": {PRODUCT.id: PRODUCT},
        "dispersions": {"liger-kernel-bench": 0.0618},
    }
    return JudgeContext(**(plain | known))  # type: ignore[arg-type]


def test_the_published_backward_of_record() -> None:
    judged = judge_cohort([LOOP, LIGER], context())
    first, second = judged.entries
    assert (first.ranked.low, first.ranked.high) == (1, 1)
    assert (second.ranked.low, second.ranked.high) == (2, 2)
    assert second.ranked.ratio_to_leader == pytest.approx(11.12, abs=0.005)
    shared = {
        "SINGLE_SAMPLE",
        "CORRECTNESS_NOT_ASSERTED",
        "NO_SOFTWARE_VERSIONS",
        "HARNESS_WORK_IN_TIMED_REGION",
    }
    assert set(judged.shared_doubts) == shared
    assert {one.code for one in second.doubts} == shared | {"RESTATED_IMPLEMENTATION"}
    assert first.limit is not None
    assert first.limit.tflops == pytest.approx(215, abs=0.5)
    assert judged.tolerance.relative == 0.0618


def test_a_single_entry_is_only_a_result() -> None:
    judged = judge_cohort([LIGER], context())
    assert judged.only_result
    assert judged.best_reported.keys == (judged.entries[0].entry.key,)
    assert judged.best_reported.only_result
    assert judged.entries[0].ranked.low is None
    assert judged.events == ()


def test_a_run_that_does_not_rank_is_listed_with_its_reasons() -> None:
    failed = replace(make_run("bad", 1.0), status="runtime_error")
    judged = judge_cohort([failed, LIGER, LOOP], context())
    assert [(one.run, [two.code for two in one.reasons]) for one in judged.excluded] == [
        (failed, ["not_passed"])
    ]
    assert len(judged.entries) == 2


def test_nothing_may_rank() -> None:
    judged = judge_cohort([replace(LIGER, status="timeout")], context())
    assert judged.entries == ()
    assert judged.best_reported.keys == ()
    assert judged.best_reported.fills == "no run of this cohort ranks"
    assert not judged.only_result


def test_the_highest_level_of_an_entrys_runs_counts() -> None:
    again = replace(LIGER, digest="sha256:again", stack=FULL)
    first = replace(LIGER, stack=again.stack)
    judged = judge_cohort([first, again], context(evidence={again.digest: REPRODUCIBLE}))
    (entry,) = judged.entries
    assert entry.level.level is Level.REPRODUCIBLE
    assert {one.digest for one in entry.entry.runs} == {first.digest, again.digest}


def test_fastest_deployable_is_an_answer_of_its_own() -> None:
    judged = judge_cohort([LIGER, LOOP, make_run("lib", 7e6)], context())
    assert judged.best_deployable.keys == ()
    assert judged.best_deployable.fills == "for Liger: no implementation manifest"
    assert judged.best_verified.fills == "a controlled run signed by an approved runner"
    specs = {make_run("lib").implementation_digest: COMPLETE}
    judged = judge_cohort([LIGER, make_run("lib", 7e6)], context(implementations=specs))
    assert judged.best_deployable.keys == (judged.entries[1].entry.key,)
    assert judged.best_deployable.only_result
    assert judged.entries[1].checklist.deployable


def test_what_the_context_knows_reaches_the_doubts() -> None:
    old = replace(LIGER, observed=on("2024-01-01"))
    passes = {old.digest: PassTimes(forward_ns=1.0, backward_ns=1.0, full_ns=4.0)}
    judged = judge_cohort([old], context(passes=passes, newest={old.source: "2026-01-01"}))
    codes = {one.code for one in judged.entries[0].doubts}
    assert {"STALE", "PASSES_DISAGREE"} <= codes


def test_latest_stack_and_events_are_given() -> None:
    old = make_run("liger", 100.0, stack=(("torch", "2.1"),), observed=on("2025-01-01"))
    new = make_run("liger", 50.0, stack=(("torch", "2.9"),), observed=on("2026-01-01"))
    judged = judge_cohort([new, old], context())
    assert [one.latest_stack for one in judged.entries] == [True, False]
    assert [one.run_digest for one in judged.events] == [new.digest]


def test_the_registry_serves_where_the_context_says_nothing() -> None:
    judged = judge_cohort([LIGER, LOOP], JudgeContext())
    assert judged.tolerance.relative > 0.05
    assert judged.tolerance.tick == 32
    limit = judged.entries[0].limit
    assert limit is not None
    assert limit.percent_nominal == pytest.approx(21.7, abs=0.1)


RUNS = st.lists(
    st.builds(
        make_run,
        st.sampled_from("abcd"),
        st.integers(1000, 2000).map(float),
        status=st.sampled_from(["passed", "passed", "timeout"]),
        retracted=st.sampled_from([None, None, "wrong"]),
    ),
    min_size=1,
    max_size=10,
    unique_by=lambda one: one.digest,
)


def test_a_memory_cohort_has_no_tick_and_its_own_tolerance() -> None:
    memory = make_primary(8e9, metric="peak_memory", unit="bytes")
    more = make_primary(9e9, metric="peak_memory", unit="bytes")
    runs = [replace(LIGER, primary=memory), replace(LOOP, primary=more)]
    judged = judge_cohort(runs, context(dispersions={}))
    assert judged.tolerance.tick == 0.0
    assert judged.tolerance.relative == 0.05
    assert [one.limit for one in judged.entries] == [None, None]
    assert judged.entries[0].ranked.best


@pytest.mark.parametrize("unit", ["s", "parsecs"])
def test_any_unit_has_a_tolerance(unit: str) -> None:
    primary = make_primary(1.0, metric="score", unit=unit)
    tolerance = context().tolerance_of(replace(LIGER, primary=primary))
    assert tolerance.tick == (pytest.approx(32e-9) if unit == "s" else 0.0)


@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(runs: list[RunFacts], shuffler: object) -> None:
    mixed = [*runs, runs[0]]
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    assert judge_cohort(mixed, context()) == judge_cohort(runs, context())


@given(RUNS)
def test_every_run_is_ranked_or_excluded(runs: list[RunFacts]) -> None:
    judged = judge_cohort(runs, context())
    ranked = [run.digest for one in judged.entries for run in one.entry.runs]
    assert sorted([*ranked, *(one.run.digest for one in judged.excluded)]) == sorted(
        run.digest for run in runs
    )


@pytest.mark.slow
def test_two_thousand_entries_are_judged() -> None:
    random = Random(4)
    runs = [
        make_run(f"n{index}", 1000.0 + random.below(90_000), cost=LIGER.cost, source="x")
        for index in range(2000)
    ]
    judged = judge_cohort(runs, context(products={}))
    assert len(judged.entries) == 2000


def test_the_version_is_stored_with_rows() -> None:
    assert POLICY_VERSION == "policy/6"
