from __future__ import annotations

import math

import pytest

from kernelindex import stats
from kernelindex.runner.calibration.floor import (
    LEAST,
    floor_points,
    least_floor,
    pair_ratios,
    ratio_bound,
)


def test_least_floor_is_what_many_batches_measured() -> None:
    assert least_floor("cuda:0", 5_000) == 0.02
    assert least_floor("cuda:0", 47_000) == pytest.approx(0.0045)
    assert least_floor("cuda:0", 5e6) == 0.0025
    assert 0.0045 < least_floor("cuda:0", 20_000) < 0.02
    assert least_floor("cpu", 5_000) == 0.05


def test_a_quiet_batch_stays_at_the_least() -> None:
    points = floor_points({500_000.0: [0.0005, -0.0004, 0.0003]}, "cuda:0", 32.0)
    assert points == [[500_000.0, 0.0025]]


def test_a_noisy_batch_rises_with_its_ratios() -> None:
    quiet = floor_points({5e5: [0.002, -0.001, 0.001]}, "cuda:0", 32.0)[0][1]
    noisy = floor_points({5e5: [0.02, -0.03, 0.025]}, "cuda:0", 32.0)[0][1]
    assert quiet < 0.004
    assert 0.02 < noisy < 0.04


def test_one_outlying_ratio_does_not_end_all_comparison() -> None:
    assert floor_points({5e6: [0.0178]}, "cuda:0", 32.0)[0][1] < 0.02


def test_ticks_bound_the_floor_from_below() -> None:
    assert floor_points({5_000.0: [0.0]}, "cuda:0", 1024.0) == [[5_000.0, 0.4096]]


def test_floor_is_capped_and_ascending_and_skips_what_was_not_measured() -> None:
    points = floor_points({5e6: [0.9], 5e3: [0.001], 5e5: []}, "cpu", 40.0)
    assert [at for at, _ in points] == [5e3, 5e6]
    assert points[1][1] == 0.5


def test_bound_covers_95_percent_of_further_ratios() -> None:
    """Ratios of the prior's own size: 93 to 97 % of new ones are inside."""
    random, sigma, inside = stats.Random(11), 0.003, 0
    least = math.expm1(1.959964 * sigma)
    for _ in range(4000):
        ratios = [sigma * random.normal() for _ in range(3)]
        inside += abs(sigma * random.normal()) <= ratio_bound(ratios, least)
    assert 0.93 <= inside / 4000 <= 0.975


def test_ratios_of_pairs() -> None:
    assert pair_ratios([110.0, 100.0], [100.0, 100.0]) == [pytest.approx(math.log(1.1)), 0.0]


def test_least_points_ascend() -> None:
    for points in LEAST.values():
        assert [at for at, _ in points] == sorted(at for at, _ in points)
