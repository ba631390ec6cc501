"""How every kernel is started: `start(kernel, grid, tensor)(*arguments, **options)`.

Triton reads each argument of each launch anew to find the compiled kernel that fits, 10 to 25 us a
launch where few tokens leave the device waiting for the host. What it would find is decided by what
`_kind` says of the arguments, so a launch of the same kinds goes to the same compiled kernel.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_READY = 4096  # every number of tokens has launches of its own

_ready: dict[tuple[Any, ...], tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def start(kernel: Any, grid: tuple[int, ...], tensor: torch.Tensor) -> Callable[..., Any]:
    """`kernel[grid]`; where tensors have no memory, only what compiles it for their types.

    Addresses are multiples of 16: `values.dense` and `routing.Layout` see to that.
    """
    if tensor.is_meta:
        return partial(kernel.warmup, grid=grid)
    return partial(_launch, kernel, grid, tensor.device)


def _launch(
    kernel: Any, grid: tuple[int, ...], device: torch.device, *args: Any, **options: Any
) -> None:
    kinds = [_kind(argument) for argument in args]
    # The function, since a kernel's own hash is a digest of its source, taken under a lock.
    key = (kernel.fn, grid, device, *kinds, *options.values())
    ready = _ready.get(key)
    if ready is not None:
        ready[0](*args, *ready[1])
        return
    compiled = kernel[grid](*args, **options)
    if compiled is None:  # the interpreter compiles nothing
        return
    if len(_ready) >= MOST_READY:
        _ready.clear()
    named = tuple(options[name] for name in kernel.arg_names[len(args) :])
    _ready[key] = (compiled[(*grid, 1, 1)[:3]], named)


def _kind(argument: Any) -> Any:
    """Type of a tensor, type and box of a tensor map, which has one layout for each; a number."""
    if isinstance(argument, torch.Tensor):
        return argument.dtype
    box = getattr(argument, "block_shape", None)
    return argument if box is None else (argument.base.dtype, *box)
