from __future__ import annotations

import itertools
from collections import Counter

from kernelindex.runner.probe.order import Order


def test_sets_are_balanced_and_never_repeat_at_once() -> None:
    order = Order(3, seed=7)
    drawn = [order.at(call) for call in range(300)]
    assert Counter(drawn) == {0: 100, 1: 100, 2: 100}
    assert all(before != after for before, after in itertools.pairwise(drawn))


def test_order_is_not_the_same_for_every_seed() -> None:
    drawn = {tuple(Order(3, seed).at(call) for call in range(9)) for seed in range(20)}
    assert len(drawn) > 10


def test_one_set_is_always_the_same() -> None:
    assert [Order(1, 3).at(call) for call in range(4)] == [0, 0, 0, 0]
