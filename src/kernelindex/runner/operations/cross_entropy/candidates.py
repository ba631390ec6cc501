"""What computes a cross entropy: functions of logits [T, V] and target [T] that return loss []."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

__all__ = ["compiled", "eager", "liger", "liger_on_a_copy", "numpy_rows"]


def numpy_rows(logits: Any, target: Any) -> Any:
    """One array of exponentials; the mean is taken in fp64."""
    import numpy as np

    top = logits.max(-1, keepdims=True)
    powers = logits - top
    chosen = np.take_along_axis(powers, target[:, None], 1)[:, 0]
    np.exp(powers, out=powers)
    losses = np.log(powers.sum(-1)) - chosen
    return np.asarray(losses.mean(dtype=np.float64), dtype=np.float32)


def eager(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """PyTorch's own function."""
    from torch.nn import functional as F

    return F.cross_entropy(logits, target)


def compiled(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The same, fused by torch.compile for the shapes at hand."""
    loss: torch.Tensor = _compiled()(logits, target)
    return loss


def liger(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Liger's function as its layer calls it.

    Where logits take gradients, its forward writes the gradient over them. Its users' logits are
    another layer's output that nobody reads again; ours are, so this one is for inference.
    """
    function = require(
        "liger-kernel", "liger_kernel.transformers.functional", "liger_cross_entropy"
    )
    loss: torch.Tensor = function(logits, target)
    return loss


def liger_on_a_copy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Liger's function on a copy of the logits, made in the call: one more read and write.

    Its backward multiplies the saved gradient in place, so a graph serves one backward only.
    """
    return liger(logits.clone(), target)


@cache
def _compiled() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    import torch

    fused: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = torch.compile(
        eager, dynamic=False
    )
    return fused
