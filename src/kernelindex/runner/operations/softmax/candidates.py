"""What computes a softmax: each function takes x [T, H] and returns y [T, H]."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

__all__ = ["compiled", "eager", "liger", "numpy_rows"]


def numpy_rows(x: Any) -> Any:
    """One new array; the exponential and the division are done in place."""
    import numpy as np

    y = x - x.max(-1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(-1, keepdims=True)
    return y


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's own function."""
    from torch.nn import functional as F

    return F.softmax(x, dim=-1)


def compiled(x: torch.Tensor) -> torch.Tensor:
    """The same, fused by torch.compile for the shapes at hand."""
    y: torch.Tensor = _compiled()(x)
    return y


def liger(x: torch.Tensor) -> torch.Tensor:
    """Liger's autograd function."""
    function = require("liger-kernel", "liger_kernel.ops", "LigerSoftmaxFunction")
    y: torch.Tensor = function.apply(x)
    return y


@cache
def _compiled() -> Callable[[torch.Tensor], torch.Tensor]:
    import torch

    fused: Callable[[torch.Tensor], torch.Tensor] = torch.compile(eager, dynamic=False)
    return fused
