from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelindex.policy import ranking as ranking_module
from kernelindex.policy.entries import Entry, build_entries
from kernelindex.policy.facts import Direction, RunFacts, Spread
from kernelindex.policy.margins import Tolerance
from kernelindex.policy.ranking import Ranking, rank
from kernelindex.policy.samples import RoundMedians
from kernelindex.policy.verdicts import Verdict, VerdictKind, compare_in_cohort
from kernelindex.stats import Random
from tests.policy.factories import make_entry, make_primary, make_rounds, make_samples, with_samples

TOLERANCE = Tolerance(relative=0.06, tick=32.0)
VALUES = st.lists(st.integers(1, 4000), min_size=2, max_size=12)


def reported(values: list[int], direction: Direction = Direction.LOWER) -> list[Entry]:
    return [
        make_entry(f"n{index}", value, primary=make_primary(float(value), direction=direction))
        for index, value in enumerate(values)
    ]


def controlled(seed: int, medians: list[float], *, between: float = 0.001) -> list[Entry]:
    random = Random(seed)
    return [
        with_samples(
            make_entry(f"n{index}"),
            make_samples(make_rounds(random, median_ns=value, between=between)),
        )
        for index, value in enumerate(medians)
    ]


def ranges(ranking: Ranking) -> dict[str, tuple[int | None, int | None]]:
    return {one.entry.line.project: (one.low, one.high) for one in ranking.ranked}


class TestReported:
    @pytest.mark.parametrize("direction", list(Direction))
    @given(values=VALUES)
    def test_the_range_counts_verdicts(self, direction: Direction, values: list[int]) -> None:
        entries = reported(values, direction)
        for one in rank(entries, TOLERANCE).ranked:
            kinds = [
                compare_in_cohort(other, one.entry, TOLERANCE).kind
                for other in entries
                if other.key != one.entry.key
            ]
            assert one.low == 1 + kinds.count(VerdictKind.FASTER)
            assert one.high == len(entries) - kinds.count(VerdictKind.SLOWER)

    @given(VALUES, st.randoms(use_true_random=False))
    def test_the_order_of_entries_does_not_matter(
        self, values: list[int], shuffler: object
    ) -> None:
        entries = reported(values)
        mixed = list(entries)
        shuffler.shuffle(mixed)  # type: ignore[attr-defined]
        assert rank(mixed, TOLERANCE) == rank(entries, TOLERANCE)

    @given(VALUES)
    def test_ranges_are_sound(self, values: list[int]) -> None:
        ranking = rank(reported(values), TOLERANCE)
        assert all(1 <= (one.low or 0) <= (one.high or 0) <= len(values) for one in ranking.ranked)
        assert sum(one.best for one in ranking.ranked) <= 1
        assert ranking.unbeaten == tuple(one.entry.key for one in ranking.ranked if one.low == 1)

    def test_printed_spread_and_sample_count_change_no_rank(self) -> None:
        plain = [make_entry("a", 100.0), make_entry("b", 108.0), make_entry("c", 120.0)]
        wide = Spread(kind="p20-p80", low=1.0, high=1e9)
        noisy = [plain[0], make_entry("b", 108.0, spread=wide, sample_count=1), plain[2]]
        tolerance = Tolerance(relative=0.06)
        assert ranges(rank(plain, tolerance)) == ranges(rank(noisy, tolerance))
        assert ranges(rank(plain, tolerance)) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}

    def test_close_numbers_share_a_range_but_no_equals_sign(self) -> None:
        ranking = rank(reported([1000, 1010, 2000]), TOLERANCE)
        assert ranges(ranking) == {"n0": (1, 2), "n1": (1, 2), "n2": (3, 3)}
        assert ranking.best is None
        assert len(ranking.unbeaten) == 2
        assert [one.tie_group for one in ranking.ranked] == [None, None, None]
        assert ranking.ranked[1].to_leader is not None
        assert ranking.ranked[1].to_leader.settle is not None

    def test_a_chain_of_close_numbers_is_not_one_tie(self) -> None:
        ranking = rank(reported([1000, 1050, 1100]), TOLERANCE)
        assert ranges(ranking) == {"n0": (1, 2), "n1": (1, 3), "n2": (2, 3)}

    def test_higher_first_where_higher_is_better(self) -> None:
        ranking = rank(reported([1000, 3000], Direction.HIGHER), TOLERANCE)
        assert [one.entry.value for one in ranking.ranked] == [3000, 1000]
        assert [one.ratio_to_leader for one in ranking.ranked] == [1.0, 3.0]
        assert ranking.best is ranking.ranked[0]

    def test_reported_entries_are_compared_with_the_leader_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Ranking 2,000 entries by all their pairs would take minutes."""
        compared = []

        def compare(*pair: Any) -> Verdict:
            compared.append(pair)
            return compare_in_cohort(*pair)

        monkeypatch.setattr(ranking_module, "compare_in_cohort", compare)
        random = Random(1)
        entries = reported([1000 + random.below(100_000) for _ in range(2000)])
        ranking = rank(entries, TOLERANCE)
        assert len(compared) == 1999
        assert ranking.ranked[-1].high == 2000


class TestFew:
    def test_nothing_ranks_as_nothing(self) -> None:
        assert rank([], TOLERANCE) == Ranking(ranked=(), only_result=False, unbeaten=())

    def test_one_entry_is_the_only_result_and_has_no_rank(self) -> None:
        ranking = rank([make_entry()], TOLERANCE)
        (only,) = ranking.ranked
        assert ranking.only_result
        assert (only.low, only.high, only.ratio_to_leader, only.to_leader) == (None,) * 4
        assert ranking.best is None
        assert ranking.unbeaten == ()


class TestControlled:
    def test_clear_differences_rank_strictly(self) -> None:
        ranking = rank(controlled(1, [140e3, 150e3, 170e3]), TOLERANCE)
        assert ranges(ranking) == {"n0": (1, 1), "n1": (2, 2), "n2": (3, 3)}
        assert ranking.best is not None
        assert ranking.best.entry.line.project == "n0"

    def test_same_is_an_equals_sign(self) -> None:
        ranking = rank(controlled(2, [141e3, 141e3, 160e3], between=0.0003), TOLERANCE)
        assert ranges(ranking) == {"n0": (1, 2), "n1": (1, 2), "n2": (3, 3)}
        assert [one.tie_group for one in ranking.ranked] == [1, 1, None]

    def test_the_verdict_to_the_leader_is_of_the_entry(self) -> None:
        ranking = rank(controlled(3, [140e3, 154e3]), TOLERANCE)
        verdict = ranking.ranked[1].to_leader
        assert verdict is not None
        assert verdict.kind is VerdictKind.SLOWER
        assert verdict.ratio == pytest.approx(1.1, abs=0.01)

    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 10**6),
        steps=st.lists(st.floats(-0.03, 0.03), min_size=2, max_size=5),
        noisy=st.integers(0, 4),
        size=st.floats(0.0, 0.3),
    )
    def test_noise_never_improves_the_better_rank(
        self, seed: int, steps: list[float], noisy: int, size: float
    ) -> None:
        entries = controlled(seed, [141e3 * math.exp(step) for step in steps])
        index = noisy % len(entries)
        louder = list(entries)
        louder[index] = add_noise(entries[index], size)
        key = entries[index].key
        quiet_low, loud_low = (
            next(one.low for one in rank(some, TOLERANCE).ranked if one.entry.key == key)
            for some in (entries, louder)
        )
        assert quiet_low is not None
        assert loud_low is not None
        assert loud_low >= quiet_low

    def test_fewer_samples_do_not_improve_the_better_rank_either(self) -> None:
        entries = controlled(6, [140e3, 142e3, 150e3])
        short = list(entries)
        samples = entries[1].representative.samples
        assert samples is not None
        cut = replace(samples, rounds=samples.rounds[:2])
        for index, change in ((1, cut), (2, replace(samples, batch="another"))):
            run = replace(entries[index].representative, samples=change)
            short[index] = replace(entries[index], runs=(run,), representative=run)
        assert ranges(rank(entries, TOLERANCE)) == {"n0": (1, 1), "n1": (2, 2), "n2": (3, 3)}
        assert ranges(rank(short, TOLERANCE)) == {"n0": (1, 3), "n1": (2, 3), "n2": (3, 3)}

    def test_noise_widens_the_worse_end(self) -> None:
        entries = controlled(5, [140e3, 150e3])
        louder = [add_noise(entries[0], 0.2), entries[1]]
        assert ranges(rank(entries, TOLERANCE))["n0"] == (1, 1)
        assert ranges(rank(louder, TOLERANCE))["n0"] == (1, 2)
        assert ranges(rank(louder, TOLERANCE))["n1"] == (2, 2)


def add_noise(entry: Entry, size: float) -> Entry:
    """Generations pushed apart by +-size with the mean log kept, and the value as it was."""
    samples = entry.representative.samples
    assert samples is not None
    push = {0: size, 1: -size}
    rounds: RoundMedians = tuple(
        tuple(value * math.exp(push.get(index, 0.0)) for value in one)
        for index, one in enumerate(samples.rounds)
    )
    run = replace(entry.representative, samples=replace(samples, rounds=rounds))
    return replace(entry, runs=(run,), representative=run)


def winners(batches: int, between: float) -> int:
    """How many batches of 8 identical candidates name one that leads alone."""
    medians = [141e3] * 8
    return sum(
        rank(controlled(seed, medians, between=between), TOLERANCE).best is not None
        for seed in range(batches)
    )


@pytest.mark.parametrize("between", [0.001, 0.01])
@pytest.mark.slow
def test_identical_candidates_name_no_winner(between: float) -> None:
    assert winners(200, between) <= 10


class TestOneLine:
    @staticmethod
    def batch(number: int, medians: dict[tuple[str, str], float]) -> list[RunFacts]:
        random, runs = Random(number), []
        for (name, revision), value in medians.items():
            rounds = make_rounds(random, median_ns=value)
            samples = make_samples(rounds, batch=f"b{number}", number=number)
            entry = with_samples(make_entry(name, revision=revision), samples)
            digest = f"sha256:{name}-{revision}-{number}"
            runs.append(replace(entry.representative, digest=digest))
        return runs

    def test_an_older_revision_elsewhere_does_not_take_the_first_place(self) -> None:
        first = self.batch(3, {("own", "1"): 102_500.0, ("other", "1"): 103_000.0})
        second = self.batch(7, {("own", "2"): 103_000.0, ("other", "1"): 108_000.0})
        ranking = rank(build_entries([*first, *second]), TOLERANCE)
        places = {(r.entry.line.project, r.entry.revision): (r.low, r.high) for r in ranking.ranked}
        assert ranking.ranked[0].entry.revision == "2"  # though the older one's number is better
        assert places["own", "2"] == (1, 1)
        assert places["own", "1"] == (1, 3)
        assert places["other", "1"] == (3, 3)  # one behind two, though they are of one line
        assert {key.split('"')[1] for key in ranking.unbeaten} == {ranking.ranked[0].entry.line.id}

    def test_an_older_revision_of_another_line_does_not_either(self) -> None:
        first = self.batch(3, {("own", "1"): 102_500.0, ("other", "1"): 103_000.0})
        second = self.batch(7, {("own", "2"): 100_000.0, ("other", "2"): 105_000.0})
        ranking = rank(build_entries([*first, *second]), TOLERANCE)
        places = {(r.entry.line.project, r.entry.revision): (r.low, r.high) for r in ranking.ranked}
        assert places["own", "2"] == (1, 1)
        assert places["other", "2"] == (3, 3)  # behind two of one line
        assert places["other", "1"][0] == 3  # behind both of the other line
        assert {key.split('"')[1] for key in ranking.unbeaten} == {ranking.ranked[0].entry.line.id}

    def test_the_newest_speaks_for_the_older_only_where_it_lost(self) -> None:
        first = self.batch(3, {("own", "1"): 102_500.0, ("other", "1"): 103_000.0})
        second = self.batch(7, {("own", "2"): 103_000.0, ("other", "2"): 103_000.0})
        ranking = rank(build_entries([*first, *second]), TOLERANCE)
        assert ranking.best is None
        assert {key.split('"')[1] for key in ranking.unbeaten} == {
            one.entry.line.id for one in ranking.ranked
        }

    def test_an_older_number_that_is_better_speaks_for_itself(self) -> None:
        first = self.batch(3, {("own", "1"): 102_500.0, ("other", "1"): 90_000.0})
        second = self.batch(7, {("own", "2"): 100_000.0, ("other", "2"): 105_000.0})
        assert rank(build_entries([*first, *second]), TOLERANCE).best is None

    def test_an_older_revision_that_the_newest_is_told_from_speaks_for_itself(self) -> None:
        both = {("own", "2"): 103_000.0, ("other", "2"): 110_000.0, ("other", "1"): 102_000.0}
        ranking = rank(build_entries(self.batch(7, both)), TOLERANCE)
        assert ranking.best is not None
        assert ranking.best.entry.revision == "1"

    def test_batches_that_disagree_decide_nothing(self) -> None:
        first = self.batch(3, {("a", "1"): 100_000.0, ("b", "1"): 110_000.0})
        second = self.batch(7, {("a", "1"): 110_000.0, ("b", "1"): 100_000.0})
        a, b = build_entries([*first, *second])
        verdict = compare_in_cohort(a, b, TOLERANCE)
        assert verdict.kind is VerdictKind.UNCLEAR
        assert "batches_disagree" in verdict.reasons
        (again,) = (one for one in build_entries(second) if one.line == a.line)
        (rival,) = (one for one in build_entries(second) if one.line == b.line)
        assert compare_in_cohort(again, rival, TOLERANCE).kind is VerdictKind.SLOWER
