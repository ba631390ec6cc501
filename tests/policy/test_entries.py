from __future__ import annotations

from dataclasses import replace

import pytest

from kernelindex.policy.entries import (
    Soundness,
    build_entries,
    entry_key,
    latest_stacks,
    newest_batch,
    paired_runs,
    representative,
    value_of,
)
from kernelindex.policy.facts import RunFacts
from tests.policy.factories import make_entry, make_run, make_samples, on

ROUNDS = ((1.0,) * 8,) * 3


def test_an_entry_is_line_revision_and_stack() -> None:
    run = make_run()
    same = replace(run, digest="sha256:x", implementation_digest="sha256:y")
    assert entry_key(run) == entry_key(same)
    for change in ({"revision": "2"}, {"stack": ()}, {"line": make_run("other").line}):
        assert entry_key(replace(run, **change)) != entry_key(run)


def test_stack_values_cannot_run_into_each_other() -> None:
    one = replace(make_run(), stack=(("a", "1,b=2"),))
    two = replace(make_run(), stack=(("a", "1"), ("b", "2")))
    assert entry_key(one) != entry_key(two)


@pytest.mark.parametrize(
    ("values", "chosen"), [([5.0], 5.0), ([9.0, 5.0], 5.0), ([9.0, 5.0, 7.0], 7.0)]
)
def test_the_lower_median_stands_for_its_entry(values: list[float], chosen: float) -> None:
    runs = [make_run(value=value) for value in values]
    assert value_of(representative(runs)) == chosen


def test_of_equal_values_the_smallest_digest() -> None:
    runs = [make_run(value=5.0, digest=f"sha256:{letter}") for letter in "cabd"]
    assert representative(runs).digest == "sha256:a"


def test_runs_group_whatever_their_order_and_repeats() -> None:
    runs = [make_run("a", 3.0), make_run("a", 1.0), make_run("b", 2.0)]
    entries = build_entries([*runs, runs[0]])
    assert entries == build_entries(reversed(runs))
    assert [[run.primary.value for run in one.runs if run.primary] for one in entries] == [
        [1.0, 3.0],
        [2.0],
    ]
    assert [run.primary.value for run in entries[0].others if run.primary] == [3.0]


def test_a_run_without_a_number_is_no_entry() -> None:
    with pytest.raises(ValueError, match="exclude it first"):
        value_of(make_run(primary=None))


class TestLatestStack:
    def test_by_date_then_versions(self) -> None:
        old = make_entry(value=1.0, stack=(("torch", "2.11"),), observed=on("2026-01-01"))
        new = make_entry(value=2.0, stack=(("torch", "2.9"),), observed=on("2026-02-01"))
        same_day = make_entry(value=3.0, stack=(("torch", "2.10"),), observed=on("2026-02-01"))
        assert latest_stacks([old, new]) == {new.key}
        assert latest_stacks([same_day, new, old]) == {same_day.key}

    def test_one_that_states_nothing_yields(self) -> None:
        stated = make_entry(value=1.0, observed=on("2025-01-01"))
        silent = make_entry(value=2.0, stack=(), observed=on("2026-01-01"))
        assert latest_stacks([silent, stated]) == {stated.key}

    def test_each_revision_has_its_own(self) -> None:
        one, two = make_entry(value=1.0), make_entry(value=2.0, revision="2")
        assert latest_stacks([one, two]) == {one.key, two.key}


class TestBatches:
    @staticmethod
    def run(
        value: float,
        number: int,
        *,
        runner: str = "r",
        date: str = "2026-11-30",
        calibrated: bool = True,
    ) -> RunFacts:
        batch = {"batch": f"{runner}/{number}", "runner": runner, "number": number}
        samples = make_samples(ROUNDS, calibrated=calibrated, **batch)
        return make_run(value=value, samples=samples, observed=on(date))

    def test_the_newest_batch_of_a_runner_stands_for_an_entry(self) -> None:
        runs = [self.run(5.0, 3), self.run(9.0, 7), self.run(1.0, 4)]
        assert value_of(representative(runs)) == 9.0

    def test_a_batch_outside_its_limits_stands_for_nothing_better(self) -> None:
        sound, failed = self.run(5.0, 3), self.run(9.0, 7, calibrated=False)
        assert value_of(representative([sound, failed])) == 5.0
        assert value_of(representative([failed])) == 9.0
        a = build_entries([sound, failed])[0]
        b = build_entries([self.run(1.0, 3), self.run(2.0, 7, calibrated=False)])[0]
        assert [(value_of(x), value_of(y)) for x, y in paired_runs(a, b)] == [(5.0, 1.0)]

    def test_a_batch_that_is_not_verified_stands_for_nothing_that_a_verified_run_measured(
        self,
    ) -> None:
        ours = self.run(5.0, 3)
        later = self.run(4.0, 1, runner="other", date="2026-12-24")
        verified = frozenset({ours.digest})
        assert value_of(representative([ours, later])) == 4.0
        assert value_of(representative([later, ours], verified)) == 5.0
        assert value_of(representative([later], verified)) == 4.0
        outside = self.run(3.0, 9, calibrated=False, date="2026-12-25")
        (entry,) = build_entries([outside, later, ours], verified)
        assert (entry.value, entry.soundness) == (5.0, Soundness.VERIFIED)
        assert [value_of(one) for one in entry.others] == [3.0, 4.0]
        newest = newest_batch(entry)
        assert newest is not None
        assert (newest.date, newest.runner) == ("2026-11-30", "r")

    def test_of_verified_runs_the_newest_batch_counts_still(self) -> None:
        old, new, later = self.run(5.0, 3), self.run(9.0, 7), self.run(1.0, 8)
        assert representative([old, new, later], frozenset({old.digest, new.digest})) is new

    def test_a_verdict_on_verified_numbers_is_drawn_from_no_other_batch(self) -> None:
        mine = [self.run(5.0, 3), self.run(6.0, 4), self.run(7.0, 1, runner="other")]
        rival = [self.run(1.0, 3), self.run(2.0, 5), self.run(3.0, 1, runner="other")]
        pairs = {
            "both in one": ((mine[0], mine[1], rival[0], rival[1]), [(5.0, 1.0)]),
            "in batches apart": ((mine[1], rival[1]), [(6.0, 2.0)]),
            "one of them": ((mine[0], mine[1]), [(5.0, 1.0)]),
            "the other": ((rival[0], rival[1]), [(5.0, 1.0)]),
            "none": ((), [(5.0, 1.0), (7.0, 3.0)]),
        }
        for runs, found in pairs.values():
            verified = frozenset(one.digest for one in runs)
            a, b = build_entries(mine, verified)[0], build_entries(rival, verified)[0]
            assert [(value_of(x), value_of(y)) for x, y in paired_runs(a, b)] == found

    def test_numbers_of_different_runners_are_not_compared(self) -> None:
        runs = [self.run(9.0, 2, runner="a"), self.run(5.0, 7, runner="b"), self.run(1.0, 1)]
        assert value_of(representative(runs)) == 5.0

    def test_a_later_day_counts_before_a_higher_number(self) -> None:
        runs = [self.run(9.0, 1, runner="a", date="2026-12-01"), self.run(5.0, 7)]
        assert value_of(representative(runs)) == 9.0

    def test_a_verdict_is_drawn_from_the_batches_that_measured_both(self) -> None:
        a = build_entries([self.run(5.0, 3), self.run(6.0, 7), self.run(7.0, 8)])[0]
        b = build_entries([self.run(1.0, 3), self.run(2.0, 7), self.run(3.0, 9)])[0]
        pairs = [(value_of(x), value_of(y)) for x, y in paired_runs(a, b)]
        assert pairs == [(6.0, 2.0), (5.0, 1.0)]
        alone = build_entries([self.run(4.0, 12)])[0]
        assert [(value_of(x), value_of(y)) for x, y in paired_runs(a, alone)] == [(7.0, 4.0)]
