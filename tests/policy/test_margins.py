from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex.policy.margins import (
    LEAST_TOLERANCE,
    Tolerance,
    build_tolerance,
    log_margin,
    margin_at,
    source_dispersion,
)
from kernelindex.registry.sources_info import find_source
from tests.policy.factories import make_samples

ROUNDS = ((1.0,) * 8,) * 3
VALUES = st.floats(1e-6, 1e12)


class TestTolerance:
    @pytest.mark.parametrize(("seen", "used"), [(None, 0.05), (0.01, 0.05), (0.12, 0.12)])
    def test_is_the_sources_dispersion_and_at_least_five_percent(
        self, seen: float | None, used: float
    ) -> None:
        assert build_tolerance(seen).relative == used

    def test_the_tick_is_in_the_primary_unit_and_only_for_times(self) -> None:
        assert build_tolerance(None, tick_ns=1024, unit="ns").tick == 1024
        assert build_tolerance(None, tick_ns=1024, unit="s").tick == pytest.approx(1.024e-6)
        assert build_tolerance(None, tick_ns=1024, unit="bytes").tick == 0.0

    def test_a_tick_widens_short_times(self) -> None:
        tolerance = Tolerance(tick=1024.0)
        assert not tolerance.separates(2048.0, 3072.0)
        assert tolerance.separates(2048.0, 3073.0)

    def test_the_edge_itself_is_not_decisive(self) -> None:
        assert not Tolerance().separates(100.0, 105.0)
        assert Tolerance().separates(100.0, 105.1)

    @given(VALUES, VALUES)
    def test_order_does_not_matter(self, one: float, other: float) -> None:
        tolerance = Tolerance(tick=32.0)
        assert tolerance.separates(one, other) == tolerance.separates(other, one)

    @given(VALUES, VALUES)
    def test_reach_never_decreases(self, one: float, other: float) -> None:
        tolerance = Tolerance(relative=0.06, tick=32.0)
        low, high = sorted((one, other))
        assert tolerance.reach(low) <= tolerance.reach(high)

    def test_a_source_without_repeats_has_the_least(self) -> None:
        assert source_dispersion(None) is None
        assert source_dispersion(find_source("sol-execbench")) is None
        seen = source_dispersion(find_source("flashinfer-bench"))
        assert seen is not None
        assert LEAST_TOLERANCE < seen < 0.2


class TestMargin:
    def test_interpolates_the_sentinels_in_log_time(self) -> None:
        samples = make_samples(ROUNDS, floor=((5e3, 0.02), (50e3, 0.004)), tick_ns=0.0)
        assert margin_at(samples, 5e3) == 0.02
        assert margin_at(samples, math.sqrt(5e3 * 50e3)) == pytest.approx(0.012)
        assert margin_at(samples, 1e9) == 0.004

    def test_is_at_least_two_ticks(self) -> None:
        samples = make_samples(ROUNDS, floor=((5e3, 0.001),), tick_ns=1024.0)
        assert margin_at(samples, 10_240.0) == pytest.approx(0.2)

    def test_without_sentinels_it_is_that_of_reported_numbers(self) -> None:
        assert margin_at(make_samples(ROUNDS, floor=(), tick_ns=0.0), 1e6) == LEAST_TOLERANCE

    def test_a_pair_takes_the_wider_one(self) -> None:
        quiet = make_samples(ROUNDS, floor=((5e3, 0.001),))
        loud = make_samples(ROUNDS, floor=((5e3, 0.01),))
        assert log_margin(quiet, loud, 1e6, 1e6) == log_margin(loud, quiet, 1e6, 1e6)
        assert log_margin(quiet, loud, 1e6, 1e6) == pytest.approx(math.log(1.01))
