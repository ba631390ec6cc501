from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kernelindex.runner.judge import comparing
from kernelindex.runner.judge.comparing import NOT_FINITE, compare
from kernelindex.runner.operations import ToleranceSpec

LOOSE = ToleranceSpec(frobenius=1e-2, max_rel=0.1)
MATCH = ToleranceSpec(frobenius=1e-2, max_rel=0.1, nan="match")


def _numpy(values: Any) -> Any:
    return np.asarray(values, dtype=np.float64)


def _torch(values: Any) -> Any:
    torch = pytest.importorskip("torch", reason="the same comparison on torch tensors")
    return torch.tensor(np.asarray(values, dtype=np.float64))


@pytest.fixture(params=[_numpy, _torch], ids=["numpy", "torch"])
def array(request: Any) -> Any:
    return request.param


def test_errors_are_shares_of_the_references_norm(array: Any) -> None:
    found = compare(array([[3.0, 4.0], [6.0, 8.5]]), array([[3.0, 4.0], [6.0, 8.0]]), LOOSE, "row")
    assert found.finite
    assert found.frobenius == pytest.approx(0.5 / math.sqrt(125))
    assert (found.worst_row, found.worst_at) == (pytest.approx(0.05), 1)
    assert found.max_abs == pytest.approx(0.5)
    assert found.max_rel == pytest.approx(0.5 / (8 + math.sqrt(125 / 4)))
    assert found.matched == 1.0


def test_one_wrong_expert_among_many_is_the_worst_one(array: Any) -> None:
    rng = np.random.default_rng(3)
    want = rng.standard_normal((64, 8, 16))
    got = want.copy()
    got[41] *= 1.05
    found = compare(array(got), array(want), LOOSE, "leading")
    assert found.frobenius < 1e-2
    assert (found.worst_row, found.worst_at) == (pytest.approx(0.05), 41)


def test_an_expert_without_tokens_must_have_no_gradient(array: Any) -> None:
    want = np.ones((4, 2, 2))
    want[2] = 0
    assert compare(array(want), array(want), LOOSE, "leading").worst_row == 0
    got = want.copy()
    got[2, 0, 0] = 1e-3
    found = compare(array(got), array(want), LOOSE, "leading")
    assert found.frobenius < 1e-3
    assert (found.worst_row > 1, found.worst_at) == (True, 2)


def test_blocks_do_not_change_the_figures(array: Any, monkeypatch: Any) -> None:
    rng = np.random.default_rng(5)
    want = rng.standard_normal((50, 7))
    got = want + rng.standard_normal((50, 7)) * 1e-2
    whole = compare(array(got), array(want), LOOSE, "row")
    monkeypatch.setattr(comparing, "BLOCK", 21)
    parts = compare(array(got), array(want), LOOSE, "row")
    assert parts.worst_at == whole.worst_at
    assert parts.frobenius == pytest.approx(whole.frobenius)
    assert (parts.max_rel, parts.matched) == (pytest.approx(whole.max_rel), whole.matched)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_matches_unless_declared(array: Any, bad: float) -> None:
    want, both = array([[1.0, 2.0]]), array([[1.0, bad]])
    assert compare(both, want, LOOSE, "row") == NOT_FINITE
    assert compare(both, both, LOOSE, "row") == NOT_FINITE
    assert compare(both, want, MATCH, "row") == NOT_FINITE
    assert compare(want, both, MATCH, "row") == NOT_FINITE
    found = compare(both, both, MATCH, "row")
    assert (found.finite, found.frobenius, found.max_rel) == (True, 0.0, 0.0)


def test_zeros_are_matched_by_zeros_alone(array: Any) -> None:
    zeros = array(np.zeros((3, 2)))
    assert compare(zeros, zeros, LOOSE, "row").frobenius == 0
    found = compare(array(np.full((3, 2), 1e-9)), zeros, LOOSE, "row")
    assert (found.frobenius, found.worst_row, found.max_rel) == (math.inf, math.inf, math.inf)


def test_scalars_and_nothing_are_compared(array: Any) -> None:
    assert compare(array(1.01), array(1.0), LOOSE, "whole").frobenius == pytest.approx(0.01)
    assert compare(array(np.zeros((0, 4))), array(np.zeros((0, 4))), LOOSE, "row").finite
