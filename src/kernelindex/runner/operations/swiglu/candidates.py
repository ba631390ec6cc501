"""What computes SwiGLU: each function takes gate_up [T, 2I] and returns y [T, I]."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

__all__ = ["compiled", "eager", "liger", "numpy_rows"]


def numpy_rows(gate_up: Any) -> Any:
    """The sigmoid by one exponential, in place where that saves a pass."""
    import numpy as np

    gate, up = np.split(gate_up, 2, axis=-1)
    y = np.exp(-gate)
    y += 1
    np.divide(gate, y, out=y)
    y *= up
    return y


def eager(gate_up: torch.Tensor) -> torch.Tensor:
    """PyTorch's silu and a product, as Liger's script restates Megatron's activation."""
    from torch.nn import functional as F

    gate, up = gate_up.chunk(2, dim=-1)
    return F.silu(gate) * up


def compiled(gate_up: torch.Tensor) -> torch.Tensor:
    """The same, fused by torch.compile for the shapes at hand."""
    y: torch.Tensor = _compiled()(gate_up)
    return y


def liger(gate_up: torch.Tensor) -> torch.Tensor:
    """Liger's autograd function over gate and up in one tensor, as its Megatron module calls it.

    Not its in-place form: that overwrites what a repeated backward needs again.
    """
    function = require("liger-kernel", "liger_kernel.ops", "LigerFusedGateUpSiLUMulFunction")
    y: torch.Tensor = function.apply(gate_up, False)
    return y


@cache
def _compiled() -> Callable[[torch.Tensor], torch.Tensor]:
    import torch

    fused: Callable[[torch.Tensor], torch.Tensor] = torch.compile(eager, dynamic=False)
    return fused
