"""Which timed call is kept for the judge, and that later calls cannot reach what it left."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from kernelindex.runner.probe.choosing import Choice, draw_unit, keep_call
from kernelindex.runner.probe.work import FixedWork
from kernelindex.stats import Random


class Answering(FixedWork):
    """Work whose outputs are what the call returned."""

    count = 3

    def __init__(self, *, reuses: bool = False) -> None:
        super().__init__(lambda: None)
        self.reuses = reuses  # type: ignore[misc]

    def collect(self, index: int, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"y": result}, {}


def chosen(calls: int, draw: Any) -> int:
    choice = Choice(Answering(), lambda call: call, draw)
    for call in range(calls):
        choice.offer(call, np.array([float(call)]))
    assert choice.kept is not None
    assert choice.kept.outputs["y"] == choice.kept.set
    return choice.kept.set


def test_every_call_is_as_likely_to_be_kept() -> None:
    random = Random(3)
    found = Counter(chosen(10, random.uniform) for _ in range(5000))
    assert set(found) == set(range(10))
    assert all(abs(found[call] - 500) < 110 for call in range(10))  # five standard deviations


def test_a_draw_needs_nothing_that_a_process_holds() -> None:
    drawn = [draw_unit() for _ in range(1000)]
    assert all(0.0 <= one < 1.0 for one in drawn)
    assert len(set(drawn)) == 1000
    assert 0.4 < sum(drawn) / 1000 < 0.6


@pytest.mark.parametrize("reuses", [False, True])
def test_what_a_later_call_writes_over_is_copied(reuses: bool) -> None:
    buffer = np.ones(4)
    kept = keep_call(Answering(reuses=reuses), 1, buffer)
    buffer[:] = 7.0
    assert (kept.set, kept.outputs["y"].tolist()) == (1, [1.0] * 4 if reuses else [7.0] * 4)


def test_a_tensor_is_kept_without_its_graph() -> None:
    torch = pytest.importorskip("torch", reason="autograd's graphs are torch's")
    y = torch.ones(4, requires_grad=True) * 2
    for reuses in (False, True):
        kept = keep_call(Answering(reuses=reuses), 0, y).outputs["y"]
        assert kept.grad_fn is None
        assert (kept.data_ptr() == y.data_ptr()) is not reuses
