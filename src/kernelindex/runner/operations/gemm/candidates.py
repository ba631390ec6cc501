"""What multiplies matrices: each function takes a [M, K] and b [N, K] and returns c [M, N]."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

__all__ = ["compiled", "matmul", "numpy_matmul", "triton_tiles"]


def numpy_matmul(a: Any, b: Any) -> Any:
    """The BLAS that numpy was built with."""
    return a @ b.T


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """PyTorch's product: cuBLAS on a GPU, oneDNN or MKL on a CPU."""
    import torch

    return torch.mm(a, b.t())


def compiled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The fastest of Inductor's templates and the library's product, tried at the first call."""
    c: torch.Tensor = _compiled()(a, b)
    return c


def triton_tiles(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A plain tiled Triton kernel of our own, used for both gradients too."""
    product = require("triton", "kernelindex.runner.operations.gemm.triton_product", "product")
    c: torch.Tensor = product(a, b)
    return c


@cache
def _compiled() -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    import torch

    # Without CUDA graphs: those are an execution mode of the protocol, the same for everybody.
    fused: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = torch.compile(
        matmul, dynamic=False, mode="max-autotune-no-cudagraphs"
    )
    return fused
