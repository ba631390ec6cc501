from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.policy import POLICY_VERSION, JudgeContext, JudgedCohort, judge_cohort
from kernelindex.policy.doubts import PassTimes
from kernelindex.policy.facts import Correctness, Cost, Doubt, Level, RunFacts
from kernelindex.policy.levels import EvidenceFacts, level_of
from kernelindex.stats import Random
from tests.policy.factories import (
    CONTROLLED,
    make_line,
    make_primary,
    make_product,
    make_rounds,
    make_run,
    make_samples,
    on,
)
from tests.policy.test_deployability import COMPLETE
from tests.policy.test_levels import FULL, REPRODUCIBLE, VERIFIED

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


def test_the_level_of_an_entry_is_that_of_the_run_whose_number_is_shown() -> None:
    runs = [make_run("liger", value, stack=FULL) for value in (100.0, 110.0, 120.0)]
    for run in runs:
        judged = judge_cohort(runs, context(evidence={run.digest: REPRODUCIBLE}))
        (entry,) = judged.entries
        assert (entry.run, entry.entry.value) == (runs[1], 110.0)
        shown = Level.REPRODUCIBLE if run is runs[1] else Level.REPORTED
        assert entry.level.level is shown
        assert ("raw samples" in entry.level.missing) is (shown is Level.REPORTED)
        assert entry.run_levels[run.digest].level is Level.REPRODUCIBLE


class TestVerified:
    """Our approved runner's batches beside those of a runner that nobody approved."""

    UNAPPROVED = replace(VERIFIED, signed_by_approved_key=False)

    @staticmethod
    def run(name: str, value: float, batch: str, date: str) -> RunFacts:
        rounds = make_rounds(Random(len(batch) + round(value)), median_ns=value)
        samples = make_samples(rounds, batch=batch, runner=batch[:-1], number=int(batch[-1]))
        run = make_run(name, value, protocol=CONTROLLED, stack=FULL, samples=samples)
        return replace(run, observed=on(date))

    def judge(self, *runs: RunFacts) -> JudgedCohort:
        evidence = {
            run.digest: VERIFIED
            if run.samples and run.samples.runner == "ours"
            else self.UNAPPROVED
            for run in runs
        }
        return judge_cohort(runs, context(evidence=evidence))

    def test_a_newer_run_that_is_not_verified_does_not_give_a_verified_row_its_number(self) -> None:
        ours = self.run("liger", 100_000.0, "ours3", "2026-11-30")
        theirs = self.run("liger", 90_000.0, "theirs1", "2026-12-24")
        (entry,) = self.judge(theirs, ours).entries
        assert (entry.entry.value, entry.level.level) == (100_000.0, Level.VERIFIED)
        levels = {digest: report.level for digest, report in entry.run_levels.items()}
        assert levels == {ours.digest: Level.VERIFIED, theirs.digest: Level.REPRODUCIBLE}
        (entry,) = self.judge(theirs).entries
        assert (entry.entry.value, entry.level.level) == (90_000.0, Level.REPRODUCIBLE)
        assert entry.level.missing == ("a signature by a runner key this index approved",)

    def test_nor_does_it_decide_who_is_faster_or_who_holds_the_record(self) -> None:
        ours = [
            self.run("liger", 100_000.0, "ours3", "2026-11-30"),
            self.run("loop", 120_000.0, "ours3", "2026-11-30"),
        ]
        theirs = [
            self.run("liger", 110_000.0, "theirs1", "2026-12-24"),
            self.run("loop", 95_000.0, "theirs1", "2026-12-24"),
        ]
        judged = self.judge(*ours, *theirs)
        rows = [(one.run.line.project, one.entry.value) for one in judged.entries]
        assert rows == [("liger", 100_000.0), ("loop", 120_000.0)]
        assert judged.entries[0].ranked.best
        verdict = judged.entries[1].to_leader
        assert verdict is not None
        assert (str(verdict.kind), verdict.reasons) == ("SLOWER", ("interval_beyond_margin",))
        assert judged.best_verified.keys == (judged.entries[0].entry.key,)
        assert [(one.leader_run, one.date) for one in judged.events] == [
            (ours[0].digest, "2026-11-30")
        ]
        unapproved = self.judge(*theirs)
        assert unapproved.entries[0].run.line.project == "loop"
        assert unapproved.best_verified.keys == ()

    def test_nor_where_the_rival_is_verified_nowhere(self) -> None:
        """Its number may be of the newer batch, but nobody's place is taken with it."""
        liger = self.run("liger", 100_000.0, "ours3", "2026-11-30")
        loop = self.run("loop", 120_000.0, "ours3", "2026-11-30")
        theirs = [
            self.run("liger", 130_000.0, "theirs1", "2026-12-24"),
            self.run("loop", 95_000.0, "theirs1", "2026-12-24"),
        ]
        evidence = {one.digest: self.UNAPPROVED for one in (loop, *theirs)}
        judged = judge_cohort(
            [liger, loop, *theirs], context(evidence=evidence | {liger.digest: VERIFIED})
        )
        first, second = judged.entries
        assert (first.run, first.ranked.best, first.level.level) == (liger, True, Level.VERIFIED)
        assert (second.entry.value, second.ranked.low) == (95_000.0, 2)
        assert second.to_leader is not None
        assert str(second.to_leader.kind) == "SLOWER"
        assert second.ranked.ratio_to_leader == pytest.approx(1.2)
        assert second.to_leader.low is not None
        assert second.to_leader.high is not None
        assert second.to_leader.low < 1.2 < second.to_leader.high
        assert [one.leader_run for one in judged.events] == [liger.digest]

    def test_a_revision_that_is_not_verified_does_not_stand_for_a_verified_one(self) -> None:
        ours = self.run("liger", 100_000.0, "ours3", "2026-11-30")
        newer = replace(self.run("liger", 99_000.0, "theirs1", "2026-12-24"), revision="2.0")
        judged = self.judge(ours, newer)
        assert [one.run.revision for one in judged.entries] == ["1.0", "2.0"]
        assert judged.best_reported.keys == (judged.entries[0].entry.key,)
        assert ours.samples is not None
        batch = replace(ours.samples, number=4, batch="ours4")
        approved = self.judge(ours, replace(newer, samples=batch))
        assert [one.run.revision for one in approved.entries] == ["2.0", "1.0"]


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


EVIDENCE = st.dictionaries(
    st.integers(0, 9), st.sampled_from([REPRODUCIBLE, VERIFIED, TestVerified.UNAPPROVED])
)
CONTROLLED_RUNS = st.lists(
    st.builds(
        TestVerified.run,
        st.sampled_from("ab"),
        st.integers(1000, 2000).map(float),
        st.sampled_from(["ours1", "ours2", "theirs1"]),
        st.sampled_from(["2026-11-30", "2026-12-24"]),
    ),
    min_size=1,
    max_size=10,
    unique_by=lambda one: one.digest,
)


@given(CONTROLLED_RUNS, EVIDENCE)
def test_every_row_has_the_level_of_its_number_and_a_verified_run_gives_both(
    runs: list[RunFacts], handed: dict[int, EvidenceFacts]
) -> None:
    evidence = {runs[place].digest: one for place, one in handed.items() if place < len(runs)}
    for row in judge_cohort(runs, context(evidence=evidence)).entries:
        assert row.level == level_of(row.run, evidence.get(row.run.digest))
        assert row.level.verified is any(
            evidence.get(one.digest) is VERIFIED for one in row.entry.runs
        )


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
    assert POLICY_VERSION == "policy/10"
