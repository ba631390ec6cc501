from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelindex.policy.facts import Direction, TimedPass
from kernelindex.policy.margins import Tolerance
from kernelindex.policy.samples import Samples
from kernelindex.policy.verdicts import (
    REASONS,
    Verdict,
    VerdictKind,
    compare,
    compare_reported,
    compare_samples,
    correct_family,
    invert,
)
from kernelindex.stats import Random
from tests.policy.factories import make_entry, make_primary, make_rounds, make_samples, with_samples

FASTER, SLOWER, SAME, UNCLEAR, INCOMPARABLE = VerdictKind
TOLERANCE = Tolerance(relative=0.06)
US = 1_000.0


def pair(
    seed: int,
    *,
    ratio: float = 1.0,
    median_ns: float = 141 * US,
    generations: int = 5,
    between: float = 0.001,
    within: float = 0.001,
) -> tuple[Samples, Samples]:
    """Two candidates of one batch; the first takes ``ratio`` times as long."""
    random = Random(seed)
    shared = {"generations": generations, "between": between, "within": within}
    first = make_rounds(random, median_ns=median_ns * ratio, **shared)  # type: ignore[arg-type]
    second = make_rounds(random, median_ns=median_ns, **shared)  # type: ignore[arg-type]
    return make_samples(first), make_samples(second)


def judge(a: Samples, b: Samples) -> Verdict:
    return compare_samples(a, b, a.rounds[0][0], b.rounds[0][0])


class TestReported:
    @pytest.mark.parametrize(
        ("a", "b", "kind", "reason"),
        [
            (1000.0, 1061.0, FASTER, "beyond_tolerance"),
            (1061.0, 1000.0, SLOWER, "beyond_tolerance"),
            (1000.0, 1060.0, UNCLEAR, "within_tolerance"),
            (1000.0, 1000.0, UNCLEAR, "within_tolerance"),
        ],
    )
    def test_is_decisive_beyond_the_tolerance_only(
        self, a: float, b: float, kind: VerdictKind, reason: str
    ) -> None:
        verdict = compare_reported(a, b, TOLERANCE)
        assert verdict.kind is kind
        assert verdict.reasons == (reason,)
        assert (verdict.settle is None) == (kind is not UNCLEAR)

    def test_higher_is_better_where_the_metric_says_so(self) -> None:
        assert compare_reported(2.0, 1.0, TOLERANCE, Direction.HIGHER).kind is FASTER

    def test_published_spread_changes_nothing(self) -> None:
        from kernelindex.policy.facts import Spread

        a, b = make_entry("a", 1000.0), make_entry("b", 1200.0)
        wide = make_entry("a", 1000.0, spread=Spread(kind="p20-p80", low=1.0, high=9e9))
        assert compare(wide, b, TOLERANCE) == compare(a, b, TOLERANCE)

    @given(st.floats(1e-3, 1e12), st.floats(1e-3, 1e12))
    def test_swapping_inverts(self, a: float, b: float) -> None:
        there, back = compare_reported(a, b, TOLERANCE), compare_reported(b, a, TOLERANCE)
        assert back.kind is there.kind.inverted
        assert back.lean == -there.lean
        assert back.margin == there.margin


class TestCompare:
    def test_an_entry_is_the_same_as_itself(self) -> None:
        entry = make_entry()
        assert compare(entry, entry, TOLERANCE).kind is SAME

    def test_other_cohorts_are_incomparable_and_say_in_what(self) -> None:
        other = make_entry(timed_pass=TimedPass.FORWARD, revision="2")
        verdict = compare(make_entry(), other, TOLERANCE)
        assert verdict.kind is INCOMPARABLE
        assert verdict.reasons == ("pass",)
        assert verdict.ratio is None

    def test_zero_is_no_ratio(self) -> None:
        broken = make_entry("b", 0.0)
        verdict = compare(make_entry(), broken, TOLERANCE)
        assert (verdict.kind, verdict.reasons) == (UNCLEAR, ("not_positive",))

    def test_samples_decide_where_both_have_them(self) -> None:
        a, b = pair(1, ratio=1.03)
        first, second = with_samples(make_entry("a"), a), with_samples(make_entry("b"), b)
        assert compare(first, second, TOLERANCE).kind is SLOWER
        without = replace(second.representative, samples=None)
        plain = replace(second, runs=(without,), representative=without)
        assert compare(first, plain, TOLERANCE).reasons == ("within_tolerance",)


class TestSameBatch:
    def test_a_known_difference_is_found(self) -> None:
        a, b = pair(2, ratio=1.03)
        verdict = judge(a, b)
        assert verdict.kind is SLOWER
        assert verdict.low is not None
        assert verdict.high is not None
        assert 1.02 < verdict.low < verdict.high < 1.04

    def test_identical_code_is_same(self) -> None:
        a, b = pair(3, between=0.0005, within=0.0005)
        verdict = judge(a, b)
        assert verdict.kind is SAME
        assert verdict.lean == 0

    def test_noise_makes_it_unclear_and_says_what_would_settle_it(self) -> None:
        a, b = pair(5, ratio=1.02, between=0.01)
        verdict = judge(a, b)
        assert verdict.kind is UNCLEAR
        assert verdict.settle is not None
        assert verdict.settle.generations is not None
        assert verdict.settle.generations > 5
        assert verdict.settle.samples == verdict.settle.generations * 8 * 20

    def test_minutes_are_foreseen_where_a_process_was_timed(self) -> None:
        a, b = pair(5, ratio=1.02, between=0.01)
        settle = judge(replace(a, seconds_per_generation=30.0), b).settle
        assert settle is not None
        assert settle.generations is not None
        assert settle.seconds == 60.0 * settle.generations
        assert settle.text.endswith(f"about {settle.generations} min")

    def test_what_no_number_of_runs_would_settle_says_so(self) -> None:
        a, b = pair(5, ratio=1.01, between=0.01)
        settle = judge(a, b).settle
        assert settle is not None
        assert settle.generations is None
        assert "400 generations" in settle.text

    def test_one_process_proves_nothing(self) -> None:
        a, b = pair(6, ratio=2.0, generations=2)
        assert judge(a, b).reasons == ("too_few_generations",)
        short = replace(a, rounds=tuple(one[:7] for one in pair(6)[0].rounds))
        assert judge(short, pair(6)[1]).reasons == ("too_few_generations",)

    def test_ticks_widen_the_margin(self) -> None:
        a, b = pair(7, ratio=1.03, median_ns=5 * US)
        coarse = [replace(one, tick_ns=200.0) for one in (a, b)]
        assert judge(a, b).kind is SLOWER
        assert judge(*coarse).kind is SAME

    def test_nothing_is_the_same_where_identical_code_differs_by_half(self) -> None:
        random = Random(5)
        a, b = (make_rounds(random, between=0.0005, within=0.0005) for _ in range(2))
        for apart, kind in ((0.49, UNCLEAR), (0.09, SAME)):
            floor = ((5_000.0, apart), (5_000_000.0, apart))
            verdict = judge(make_samples(a, floor=floor), make_samples(b, floor=floor))
            assert verdict.kind is kind
            assert ("margin_too_wide" in verdict.reasons) is (kind is UNCLEAR)

    def test_same_must_hold_in_cycles_too(self) -> None:
        a, b = pair(8, between=0.0005)
        longer = tuple(tuple(1.1 * value for value in one) for one in b.rounds)
        verdict = judge(replace(a, cycles=longer), replace(b, cycles=b.rounds))
        assert verdict.reasons == ("not_same_in_cycles",)
        assert judge(replace(a, cycles=a.rounds), replace(b, cycles=b.rounds)).kind is SAME

    @settings(max_examples=60)
    @given(st.integers(0, 10**6), st.floats(0.9, 1.1), st.floats(0.0001, 0.02))
    def test_swapping_inverts_exactly(self, seed: int, ratio: float, between: float) -> None:
        a, b = pair(seed, ratio=ratio, between=between, generations=4)
        there, back = judge(a, b), judge(b, a)
        assert back.kind is there.kind.inverted
        assert back.p_value == there.p_value
        assert back.lean == -there.lean
        assert back.settle == there.settle
        assert back.low == pytest.approx(1.0 / there.high)  # type: ignore[operator]
        assert invert(invert(there)).kind is there.kind


class TestAcrossBatches:
    def batches(self, seed: int, *, drift: float, sd: float | None = 0.002) -> list[Samples]:
        """One candidate twice as long as the anchor in two batches, the second ``drift`` off."""
        random, made = Random(seed), []
        for index, pace in enumerate((1.0, math.exp(drift))):
            anchor = make_rounds(random, median_ns=70 * US * pace)
            rounds = make_rounds(random, median_ns=140 * US * pace)
            made.append(
                make_samples(
                    rounds,
                    batch=f"b{index}",
                    anchor=anchor,
                    anchor_id="anchor",
                    between_batch_sd=sd,
                )
            )
        return made

    def test_the_anchor_takes_the_drift_out(self) -> None:
        a, b = self.batches(1, drift=0.2)
        verdict = judge(a, b)
        assert verdict.kind is not FASTER
        assert verdict.ratio == pytest.approx(1.0, abs=0.005)

    def test_swapping_inverts_exactly(self) -> None:
        a, b = self.batches(2, drift=0.1)
        assert judge(b, a).kind is judge(a, b).kind.inverted
        assert judge(b, a).p_value == judge(a, b).p_value

    @pytest.mark.parametrize(
        "change", [{"anchor_id": "another"}, {"anchor": None}, {"between_batch_sd": None}]
    )
    def test_without_a_shared_studied_anchor_it_is_unclear(self, change: dict[str, object]) -> None:
        a, b = self.batches(3, drift=0.0)
        verdict = judge(a, replace(b, rounds=((80 * US,) * 8,) * 5, **change))
        assert (verdict.kind, verdict.reasons) == (UNCLEAR, ("no_shared_anchor",))

    @pytest.mark.parametrize(("ratio", "kind"), [(0.45, FASTER), (0.55, UNCLEAR), (1.9, UNCLEAR)])
    def test_unstudied_batches_are_decided_where_they_are_more_than_twice_apart(
        self, ratio: float, kind: VerdictKind
    ) -> None:
        a, b = self.batches(4, drift=0.0, sd=None)
        a = replace(a, rounds=tuple(tuple(x * ratio for x in one) for one in a.rounds))
        verdict = judge(a, b)
        assert verdict.kind is kind
        assert judge(b, a).kind is kind.inverted
        few = replace(a, rounds=a.rounds[:2])
        assert judge(few, b).kind is UNCLEAR

    @pytest.mark.no_cover
    @pytest.mark.slow
    def test_ten_batches_of_one_candidate_do_not_disagree(self) -> None:
        """Two days, a runner whose batches differ by 0.3 %: at most 5 % of 45 pairs."""
        decisive = 0
        for trial in range(6):
            random = Random(100 + trial)
            batches = []
            for index in range(10):
                offset = math.exp(0.003 * random.normal())
                rounds = make_rounds(random, median_ns=140 * US * offset)
                anchor = make_rounds(random, median_ns=70 * US)
                batches.append(
                    make_samples(
                        rounds,
                        batch=f"b{index}",
                        anchor=anchor,
                        anchor_id="anchor",
                        between_batch_sd=0.003,
                    )
                )
            decisive += sum(
                judge(a, b).kind in (FASTER, SLOWER)
                for index, a in enumerate(batches)
                for b in batches[:index]
            )
        assert decisive <= 0.05 * 45 * 6


class TestFamily:
    def claim(self, p_value: float | None, kind: VerdictKind = FASTER) -> Verdict:
        return Verdict(kind=kind, reasons=("interval_beyond_margin",), lean=1, p_value=p_value)

    def test_a_claim_must_survive_its_family(self) -> None:
        alone = correct_family([self.claim(0.03)])
        crowd = correct_family([self.claim(0.03)] * 3)
        assert alone[0].kind is FASTER
        assert {one.kind for one in crowd} == {UNCLEAR}
        assert crowd[0].reasons[-1] == "family_corrected"
        assert crowd[0].lean == 1

    def test_verdicts_without_samples_stand(self) -> None:
        found = correct_family([self.claim(None), self.claim(0.04), self.claim(0.04)])
        assert [one.kind for one in found] == [FASTER, UNCLEAR, UNCLEAR]

    def test_every_reason_has_words(self) -> None:
        assert all(len(text) > 10 for text in REASONS.values())


def error_rate(trials: int, ratio: float, wanted: VerdictKind, **noise: float) -> float:
    """The share of simulated pairs that come out as ``wanted``."""
    return (
        sum(judge(*pair(seed, ratio=ratio, **noise)).kind is wanted for seed in range(trials))
        / trials
    )  # type: ignore[arg-type]


@pytest.mark.no_cover
def test_identical_code_is_rarely_decisive_and_mostly_same() -> None:
    """A/A at 141 µs with the spread that made its margin of 0.37 %."""
    noise = {"between": 0.0011, "within": 0.001}
    decisive = sum(error_rate(200, 1.0, kind, **noise) for kind in (FASTER, SLOWER))
    assert decisive <= 0.03
    assert error_rate(200, 1.0, SAME, between=0.0008, within=0.001) >= 0.8


def test_three_percent_more_work_is_found() -> None:
    assert error_rate(200, 1.03, SLOWER, between=0.002, within=0.002) >= 0.95


def test_primary_of_controlled_entries_is_a_median() -> None:
    entry = with_samples(make_entry("a"), pair(1)[0])
    assert entry.representative.primary == make_primary(entry.value)
