"""SonicMoE's pair of autograd functions over given routing, with its default tiles and tuned.

W1 [2I, H, E] and W2 [H, I, E] as strided views of our [E, 2I, H] and [E, H, I]: that is the
order of strides that it asks for, so nothing is moved. Its own layers keep gate and up rows
interleaved; ``concat_layout`` is its public switch for gate rows before up rows, which our
weights (and Transformers') have. Converting to the interleaved layout would cost a pass over
the weights in every training step, or need weights whose owner interleaved them.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    import torch

__all__ = ["sonic_autotuned", "sonic_default"]


def sonic_default(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """With the tiles that its kernels take when no configuration is given."""
    _use_default_tiles()
    return _experts(x, gate_up_proj, down_proj, top_k_index, top_k_weights)


def sonic_autotuned(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """With its autotuner, which takes more than 8 minutes at the workload of record."""
    return _experts(x, gate_up_proj, down_proj, top_k_index, top_k_weights)


class _Library(NamedTuple):
    up: Any
    down: Any
    metadata: Any
    swiglu: Any


@cache
def _library() -> _Library:
    get = partial(require, "sonic-moe")
    return _Library(
        get("sonicmoe.functional", "_UpProjection"),
        get("sonicmoe.functional", "_DownProjection"),
        get("sonicmoe.functional.triton_kernels", "TC_topk_router_metadata_triton"),
        get("sonicmoe.enums", "ActivationType").SWIGLU,
    )


@cache
def _use_default_tiles() -> None:
    """Answer the tuner of QuACK, which SonicMoE's products go through, with no configuration."""
    tuner = require("quack-kernels", "quack.autotuner", "Autotuner")
    tuner.__call__ = lambda self, *args, **kwargs: self.fn(*args, **{"config": None, **kwargs})


def _experts(
    x: torch.Tensor,
    gate_up: torch.Tensor,
    down: torch.Tensor,
    index: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """Its own layer without the router: places of the rows, up projection, down projection.

    The router's scores are fp32 there, so the cast of ``weights`` is part of the call.
    """
    import torch

    library = _library()
    (tokens, top_k), experts = index.shape, gate_up.shape[0]
    slots = tokens * top_k
    sizes = (slots, slots, slots, experts, experts + 1)
    scatter, reverse, gather, frequency, offset = (
        torch.empty(size, dtype=torch.int32, device=x.device) for size in sizes
    )
    library.metadata(index, experts, frequency, offset, gather, scatter, reverse)
    places = (gather, scatter, reverse, None, False)
    act, h = library.up.apply(
        x,
        gate_up.permute(1, 2, 0),
        None,
        offset,
        slots,
        top_k,
        *places,
        library.swiglu,
        not torch.is_grad_enabled(),
        True,
    )
    y: torch.Tensor = library.down.apply(
        act,
        h,
        down.permute(1, 2, 0),
        None,
        weights.float(),
        offset,
        tokens,
        top_k,
        *places,
        library.swiglu,
    )
    return y
