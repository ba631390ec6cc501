from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex import stats

FINITE = st.floats(-1e6, 1e6)

LISTS = st.lists(FINITE, min_size=1, max_size=30)


class TestRandom:
    def test_splitmix64_matches_the_published_vector(self) -> None:
        mixer = stats.SplitMix64(1234567)
        assert [mixer.next() for _ in range(5)] == [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
            4593380528125082431,
            16408922859458223821,
        ]

    def test_xoshiro256_plus_plus_matches_the_published_vector(self) -> None:
        random = stats.Random.from_state((1, 2, 3, 4))
        assert [random.next() for _ in range(10)] == [
            41943041,
            58720359,
            3588806011781223,
            3591011842654386,
            9228616714210784205,
            9973669472204895162,
            14011001112246962877,
            12406186145184390807,
            15849039046786891736,
            10450023813501588000,
        ]

    def test_a_seed_always_gives_the_same_draws(self) -> None:
        random = stats.Random(42)
        assert [random.below(1000) for _ in range(6)] == [951, 753, 100, 464, 331, 965]
        assert random.uniform() == 0.1253524420627421

    def test_uniform_and_normal_have_their_moments(self) -> None:
        random = stats.Random(7)
        uniform = [random.uniform() for _ in range(4000)]
        normal = [random.normal() for _ in range(4000)]
        assert abs(stats.mean(uniform) - 0.5) < 0.02
        assert abs(stats.mean(normal)) < 0.05
        assert abs(stats.deviation(normal) - 1.0) < 0.03

    def test_below_reaches_every_value_evenly(self) -> None:
        random = stats.Random(3)
        counts = [0, 0, 0]
        for _ in range(3000):
            counts[random.below(3)] += 1
        assert min(counts) > 900

    def test_shuffled_keeps_the_items_and_its_argument(self) -> None:
        items = list(range(20))
        drawn = stats.Random(1).shuffled(items)
        assert drawn != items
        assert sorted(drawn) == items == list(range(20))


class TestCentres:
    @pytest.mark.parametrize(
        ("values", "low", "middle"),
        [([3.0], 3.0, 3.0), ([4.0, 1.0], 1.0, 2.5), ([9.0, 1.0, 5.0], 5.0, 5.0)],
    )
    def test_medians(self, values: list[float], low: float, middle: float) -> None:
        assert stats.lower_median(values) == low
        assert stats.median(values) == middle

    @given(LISTS)
    def test_lower_median_is_one_of_the_values(self, values: list[float]) -> None:
        assert stats.lower_median(values) in values

    @given(LISTS, st.floats(0, 1))
    def test_quantile_matches_numpy(self, values: list[float], share: float) -> None:
        expected = float(np.quantile(values, share))
        assert stats.quantile(values, share) == pytest.approx(expected, rel=1e-9, abs=1e-6)

    def test_mad_ignores_one_outlier(self) -> None:
        assert stats.mad([1.0, 2.0, 3.0, 4.0, 1000.0]) == 1.0

    def test_deviation_matches_numpy(self) -> None:
        assert stats.deviation([1.0, 2.0, 4.0]) == pytest.approx(np.std([1, 2, 4], ddof=1))

    def test_interpolates_in_log_x_and_stays_flat_outside(self) -> None:
        points = [(10.0, 1.0), (1000.0, 3.0)]
        assert stats.interpolate_log(points, 100.0) == pytest.approx(2.0)
        assert stats.interpolate_log(points, 1.0) == 1.0
        assert stats.interpolate_log(points, 5000.0) == 3.0
        assert stats.interpolate_log(points, 1000.0) == pytest.approx(3.0)


class TestStudent:
    @pytest.mark.slow
    @pytest.mark.parametrize("degrees", [1, 2, 2.7, 4, 9, 30, 400])
    @pytest.mark.parametrize("share", [0.001, 0.5, 0.6, 0.95, 0.975, 0.9999])
    def test_quantile_matches_scipy(self, share: float, degrees: float) -> None:
        from scipy import stats as oracle

        expected = oracle.t.ppf(share, degrees)
        found = stats.student_t_quantile(share, degrees)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)

    @pytest.mark.slow
    @given(st.floats(-50, 50), st.floats(1, 200))
    def test_tail_matches_scipy(self, t: float, degrees: float) -> None:
        from scipy import stats as oracle

        expected = oracle.t.sf(t, degrees)
        assert stats.student_t_tail(t, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-14)

    @pytest.mark.parametrize("t", [1e-5, 1e-7, -1e-8])
    def test_tail_is_exact_near_the_middle(self, t: float) -> None:
        from scipy import stats as oracle

        assert stats.student_t_tail(t, 200.0) - 0.5 == pytest.approx(
            float(oracle.t.sf(t, 200.0)) - 0.5, rel=1e-4
        )

    def test_tail_ends(self) -> None:
        assert stats.student_t_tail(math.inf, 3) == 0.0
        assert stats.student_t_tail(-math.inf, 3) == 1.0

    @pytest.mark.slow
    @given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0, 1))
    def test_incomplete_beta_matches_scipy(self, a: float, b: float, x: float) -> None:
        from scipy import stats as oracle

        expected = oracle.beta.cdf(x, a, b)
        assert stats.incomplete_beta(a, b, x) == pytest.approx(expected, rel=1e-7, abs=1e-10)


class TestHolm:
    def test_steps_down_and_never_decreases(self) -> None:
        found = stats.holm([0.01, 0.04, 0.03, 0.005])
        assert found == pytest.approx((0.03, 0.06, 0.06, 0.02))

    def test_is_capped_at_one(self) -> None:
        assert stats.holm([0.6, 0.7]) == (1.0, 1.0)

    def test_one_alone_and_none(self) -> None:
        assert stats.holm([0.04]) == (0.04,)
        assert stats.holm([]) == ()


class TestLogRatio:
    def test_the_generation_is_the_unit(self) -> None:
        """Many rounds in a generation do not narrow the interval."""
        a = ((2.0, 2.0), (4.0, 4.0), (8.0, 8.0))
        b = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
        few = stats.paired_log_ratio(a, b)
        many = stats.paired_log_ratio([one * 50 for one in a], [one * 50 for one in b])
        assert few == many
        assert few.log_ratio == pytest.approx(math.log(4))
        assert few.standard_error == pytest.approx(math.log(2) / math.sqrt(3))
        assert few.degrees == 2

    def test_an_outlying_round_moves_nothing(self) -> None:
        a = ((2.0, 2.0, 900.0), (2.0, 2.0, 2.0))
        b = ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
        assert stats.generation_log_ratios(a, b) == [math.log(2)] * 2

    def test_unpaired_rounds_and_generations_are_left_out(self) -> None:
        assert stats.generation_log_ratios(((2.0, 5.0), (), (3.0,)), ((1.0,), (1.0,))) == [
            math.log(2)
        ]

    @given(st.lists(st.lists(st.floats(0.1, 100), min_size=2, max_size=4), min_size=2, max_size=5))
    def test_swapping_negates_exactly(self, rows: list[list[float]]) -> None:
        ones = [[7.0 + index for index, _ in enumerate(row)] for row in rows]
        there, back = stats.paired_log_ratio(rows, ones), stats.paired_log_ratio(ones, rows)
        assert back.log_ratio == -there.log_ratio
        assert back.interval() == tuple(-end for end in reversed(there.interval()))

    def test_round_medians(self) -> None:
        assert stats.round_medians([[[1.0, 9.0, 2.0]], [[4.0, 6.0]]]) == ((2.0,), (5.0,))

    def test_bootstrap_covers_the_centre_and_repeats(self) -> None:
        generations = [(1.0, 2.0, 3.0), (2.0, 3.0, 4.0), (3.0, 4.0, 5.0)]
        first = stats.bootstrap_interval(generations, stats.median, stats.Random(5), draws=200)
        again = stats.bootstrap_interval(generations, stats.median, stats.Random(5), draws=200)
        assert first == again
        assert 1.0 <= first[0] < 3.0 < first[1] <= 5.0


def coverage(clusters: int, trials: int, seed: int) -> float:
    """How often the 95 % interval of a paired log ratio holds the true one."""
    random = stats.Random(seed)
    truth = math.log(1.03)
    held = 0
    for _ in range(trials):
        a, b = [], []
        for _ in range(clusters):
            drift, other = 0.003 * random.normal(), 0.003 * random.normal()
            a.append([math.exp(truth + drift + 0.002 * random.normal()) for _ in range(8)])
            b.append([math.exp(other + 0.002 * random.normal()) for _ in range(8)])
        low, high = stats.paired_log_ratio(a, b).interval()
        held += low <= truth <= high
    return held / trials


@pytest.mark.no_cover
@pytest.mark.parametrize("clusters", [3, 5, 10])
def test_interval_covers_the_truth(clusters: int) -> None:
    assert 0.92 <= coverage(clusters, 500, seed=11 + clusters) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("clusters", range(3, 11))
def test_interval_covers_the_truth_within_two_percent(clusters: int) -> None:
    assert 0.93 <= coverage(clusters, 4000, seed=clusters) <= 0.97
