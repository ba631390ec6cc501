"""What computes an RMS norm: each function takes x [T, H] and weight [H] and returns y [T, H]."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

__all__ = ["compiled", "eager", "liger", "llama", "numpy_rows"]

EPS = 1e-6


def numpy_rows(x: Any, weight: Any) -> Any:
    """One einsum for the sums of squares, one pass for the scaling; accumulates in fp32."""
    import numpy as np

    wide = x.astype(np.float32, copy=False)
    mean_square = np.einsum("th,th->t", wide, wide) / np.float32(x.shape[1])
    scaled = wide * (1 / np.sqrt(mean_square + np.float32(EPS)))[:, None]
    scaled *= weight
    return scaled.astype(x.dtype, copy=False)


def eager(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """PyTorch's own function, fused only where both dtypes are alike: so the weight is cast."""
    from torch.nn import functional as F

    return F.rms_norm(x, (x.shape[-1],), weight.to(x.dtype), EPS)


def llama(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The layer of Llama as Transformers writes it; a float32 weight makes its output float32."""
    import torch

    wide = x.to(torch.float32)
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
    return weight * scaled.to(x.dtype)


def compiled(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The formula in fp32, fused by torch.compile for the shapes at hand."""
    y: torch.Tensor = _compiled()(x, weight)
    return y


def liger(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Liger's autograd function in its Llama mode.

    ``in_place`` is off, unlike in its layer: it would overwrite the upstream gradient, which a
    repeated backward needs again.
    """
    function = require("liger-kernel", "liger_kernel.ops.rms_norm", "LigerRMSNormFunction")
    y: torch.Tensor = function.apply(x, weight, EPS, 0.0, "llama", False)
    return y


@cache
def _compiled() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    import torch

    fused: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = torch.compile(
        _formula, dynamic=False
    )
    return fused


def _formula(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = x.float()
    scaled = wide * (wide.square().mean(-1, keepdim=True) + EPS).rsqrt()
    return (scaled * weight).to(x.dtype)
