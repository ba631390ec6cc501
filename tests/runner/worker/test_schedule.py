from collections import Counter
from itertools import pairwise

import pytest

from kernelindex.runner.worker.schedule import draw_calls, draw_rounds, williams_square
from kernelindex.stats import Random


@pytest.mark.parametrize("count", range(1, 10))
def test_a_square_is_balanced_in_places_and_neighbours(count) -> None:
    rows = williams_square(count)
    times = len(rows) // count

    for place in range(count):
        assert Counter(row[place] for row in rows) == dict.fromkeys(range(count), times)
    after = Counter(pair for row in rows for pair in pairwise(row))
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    assert after == dict.fromkeys(pairs, times)


@pytest.mark.parametrize(("count", "rounds"), [(1, 3), (2, 8), (3, 8), (5, 8), (8, 8), (11, 4)])
def test_rounds_hold_everyone_once_and_places_evenly(count, rounds) -> None:
    orders = draw_rounds(count, rounds, Random(7))

    assert len(orders) == rounds
    assert all(sorted(order) == list(range(count)) for order in orders)
    if rounds == count:
        assert all(len({order[place] for order in orders}) == count for place in range(count))


def test_orders_follow_the_seed() -> None:
    assert draw_rounds(6, 8, Random(1)) == draw_rounds(6, 8, Random(1))
    assert draw_rounds(6, 8, Random(1)) != draw_rounds(6, 8, Random(2))


def test_no_candidates_are_no_rounds() -> None:
    assert draw_rounds(0, 3, Random(1)) == [[], [], []]


def test_calls_vary_within_a_fifth_and_the_bounds() -> None:
    random = Random(3)
    drawn = {draw_calls(50, 3, 55, random) for _ in range(500)}

    assert min(drawn) == 40
    assert max(drawn) == 55
    assert draw_calls(1, 3, 100, random) == 3


def test_nobody_left_makes_empty_rounds() -> None:
    assert draw_rounds(0, 3, Random(7)) == [[], [], []]
