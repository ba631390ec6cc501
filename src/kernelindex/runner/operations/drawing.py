"""Draws that generators share: normal numbers, and magnitudes mixed so that precision shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.dtypes import numpy_dtype, torch_dtype

if TYPE_CHECKING:
    import numpy as np
    import torch

    from kernelindex.runner.operations.case import Case

__all__ = ["draw_mixed", "draw_normal", "draw_normal_numpy", "mixed_scale_numpy"]

ROW_OCTAVES = 5
OUTLIER_EVERY = 61
OUTLIER = 16.0


def draw_normal(
    case: Case, name: str, generator: torch.Generator, device: str, scale: float = 1.0
) -> torch.Tensor:
    """Normal numbers of the tensor's shape, drawn in fp32 and rounded to its dtype."""
    import torch

    drawn = torch.randn(case.shape(name), generator=generator, device=device)
    return drawn.mul_(scale).to(torch_dtype(case.dtype(name)))


def draw_mixed(
    case: Case, name: str, generator: torch.Generator, device: str, scale: float = 1.0
) -> torch.Tensor:
    """Normal numbers whose rows span 2^±5 and whose every 61st column is 16 times as large.

    A sum over such a row in fp16 or bf16 loses its small terms; one in fp32 does not.
    """
    import torch

    shape = case.shape(name)
    drawn = torch.randn(shape, generator=generator, device=device).mul_(scale)
    octaves = torch.randint(
        -ROW_OCTAVES, ROW_OCTAVES + 1, (*shape[:-1], 1), generator=generator, device=device
    )
    drawn[..., ::OUTLIER_EVERY] *= OUTLIER
    return drawn.mul_(torch.exp2(octaves.float())).to(torch_dtype(case.dtype(name)))


def draw_normal_numpy(case: Case, name: str, rng: np.random.Generator) -> Any:
    """Normal numbers as ``draw_normal``, of another sequence, as a numpy array."""
    drawn = rng.standard_normal(case.shape(name), dtype="float32")
    return drawn.astype(numpy_dtype(case.dtype(name)))


def mixed_scale_numpy(shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """What ``draw_mixed`` multiplies with, as a numpy array of ``shape``."""
    import numpy as np

    octaves = rng.integers(-ROW_OCTAVES, ROW_OCTAVES, (*shape[:-1], 1), endpoint=True)
    scale = np.broadcast_to(2.0**octaves, shape).astype("float32")
    scale[..., ::OUTLIER_EVERY] *= OUTLIER
    return scale
