from __future__ import annotations

import numpy as np
import pytest

from kernelindex.runner.judge.refresh import is_training, refreshed, roll
from kernelindex.runner.judge.seeds import derive_seed
from kernelindex.runner.operations import make_case

CASE = make_case("rms-norm", {"tokens": 5, "hidden": 3}, {"x": "fp32"})
X = np.arange(15).reshape(5, 3)
WEIGHT = np.array([7, 8, 9])


def test_rows_roll_weights_only_in_training_gradients_twice_as_far() -> None:
    base, upstream = {"x": X, "weight": WEIGHT}, {"y": X}
    inputs, gradients = refreshed(CASE, base, upstream, 1, training=True)
    assert inputs["x"][:, 0].tolist() == [12, 0, 3, 6, 9]
    assert inputs["weight"].tolist() == [9, 7, 8]
    assert gradients["y"][:, 0].tolist() == [9, 12, 0, 3, 6]
    inputs, _ = refreshed(CASE, base, upstream, 1, training=False)
    assert inputs["weight"].tolist() == [7, 8, 9]


def test_torch_and_numpy_roll_alike() -> None:
    torch = pytest.importorskip("torch", reason="rolls torch tensors")
    for offset in (0, 2, 5, 1234567, -1):
        assert roll(torch.tensor(X), offset).tolist() == roll(X, offset).tolist()
    assert roll(np.float32(3), 4) == 3


def test_only_inference_leaves_weights_alone() -> None:
    passes = ("inference", "forward", "backward", "full")
    assert [is_training(one) for one in passes] == [False, True, True, True]


def test_seeds_are_of_what_they_are_for() -> None:
    first = derive_seed("s", "p", "own", 0, "inputs")
    assert first == 754167765654049864
    others = {
        derive_seed("t", "p", "own", 0, "inputs"),
        derive_seed("s", "q", "own", 0, "inputs"),
        derive_seed("s", "p", "stress", 0, "inputs"),
        derive_seed("s", "p", "own", 1, "inputs"),
        derive_seed("s", "p", "own", 0, "upstream"),
    }
    assert len(others | {first}) == 6
    assert all(0 <= seed < 1 << 63 for seed in others)
