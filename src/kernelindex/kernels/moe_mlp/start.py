"""How every kernel is started: `start(kernel, grid, tensor)(*arguments, **options)`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


def start(kernel: Any, grid: tuple[int, ...], tensor: torch.Tensor) -> Callable[..., Any]:
    """`kernel[grid]`; where tensors have no memory, only what compiles it for their types."""
    return partial(kernel.warmup, grid=grid) if tensor.is_meta else kernel[grid]
