"""The kernels of the studies: the same result, and work that differs as their names say."""

from __future__ import annotations

import numpy as np
import pytest

from kernelindex.runner.operations.study_scale import candidates


@pytest.mark.parametrize("name", ["numpy_less_100", "numpy_more_100"])
def test_numpy_kernels_scale_the_rows_asked_for(name: str) -> None:
    x = np.arange(200 * 4, dtype=np.float32).reshape(200, 4)
    y = getattr(candidates, name)(x)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, 2 * x[:100])


def test_only_the_one_with_more_work_holds_the_extra_rows() -> None:
    x = np.ones((200, 4), dtype=np.float32)
    assert candidates.numpy_less_100(x).base is None
    assert candidates.numpy_more_100(x).base.shape == (200, 4)


@pytest.mark.parametrize(("percent", "rows"), [(3, 2_000), (8, 700), (3, 200_000)])
def test_torch_kernels_scale_the_rows_asked_for(percent: int, rows: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: its kernels are skipped")
    x = torch.randn(rows + rows * percent // 100, 8)
    for kind in ("less", "more"):
        y = getattr(candidates, f"{kind}_{percent}")(x)
        assert y.shape == (rows, 8)
        assert torch.equal(y, 2 * x[:rows])
