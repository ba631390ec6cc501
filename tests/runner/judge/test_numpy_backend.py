from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kernelindex.errors import RequestError
from kernelindex.runner.array_file import read_arrays, write_arrays
from kernelindex.runner.judge.numpy_backend import NumpyBackend
from kernelindex.runner.operations.rms_norm.candidates import numpy_rows
from kernelindex.runner.tensor_file import TensorFileError
from tests.runner.judge.judging import Judging, rms_point

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def judging(tmp_path: Path) -> Judging:
    return Judging(tmp_path, rms_point(dtype="fp32", interface="numpy"), NumpyBackend())


@pytest.mark.parametrize("draw", ["own", "stress", "uneven"])
def test_numpy_is_judged_without_torch(judging: Judging, draw: str) -> None:
    result = judging.judge(numpy_rows, "forward", draw, offset=11)
    assert (result["status"], result["text"]) == ("passed", "")
    assert result["trusted"] == "kernelindex/numpy-rms-norm"
    assert result["outputs"]["y"]["frobenius"] < 1e-6


def test_numpy_in_half_precision_is_judged_by_its_own_bounds(tmp_path: Path) -> None:
    point = rms_point(dtype="fp16", interface="numpy")
    result = Judging(tmp_path, point, NumpyBackend()).judge(numpy_rows, "forward")
    assert (result["status"], result["text"]) == ("passed", "")


def test_a_wrong_row_is_found_without_torch(judging: Judging) -> None:
    def spoil(results: Any) -> None:
        results["y"][40] = 0

    result = judging.judge(numpy_rows, "forward", spoil=spoil)
    assert (result["reason"], result["outputs"]["y"]["worst_at"]) == ("wrong_values", 40)


def test_no_upstream_gradients_are_made_and_none_are_judged(judging: Judging) -> None:
    assert judging.make()["upstream"] == []
    with pytest.raises(RequestError, match="gradients need torch"):
        judging.backend.compute(
            judging.case, judging.backend.make(judging.case, 1, 2), gradients=True
        )


def test_a_sound_workload_has_no_findings_without_torch(judging: Judging) -> None:
    for draw in ("own", "stress", "uneven"):
        judging.make(draw)
    assert judging.session.lint({}) == {"findings": []}


def test_an_operation_without_numpy_functions_says_so(judging: Judging, monkeypatch: Any) -> None:
    from kernelindex.runner.operations import rms_norm

    monkeypatch.delattr(rms_norm, "reference_numpy")
    with pytest.raises(RequestError, match="rms-norm has no reference_numpy, so it needs torch"):
        judging.judge(numpy_rows, "forward")


def test_arrays_come_back_from_a_file(tmp_path: Path) -> None:
    arrays = {
        "x": np.arange(6, dtype=np.float16).reshape(2, 3).T,
        "index": np.array([1, 2], dtype=np.int64),
        "scalar": np.float32(3.5),
        "nothing": np.zeros((0, 2), dtype=np.float32),
    }
    path = tmp_path / "a.tensors"
    write_arrays(path, arrays, {"draw": "own"})
    found = read_arrays(path)
    assert {name: (value.dtype, value.tolist()) for name, value in found.items()} == {
        name: (value.dtype, value.tolist()) for name, value in arrays.items()
    }
    with pytest.raises(TensorFileError, match="at most 8"):
        read_arrays(path, 8)
