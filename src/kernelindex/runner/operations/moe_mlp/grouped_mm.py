"""The best that PyTorch alone does: its grouped product, with autograd's backward and with ours."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from kernelindex.runner.operations.moe_mlp.sorting import (
    Sorted,
    activation_backward,
    sort_by_expert,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["grouped_mm", "grouped_mm_compiled", "grouped_mm_own_backward"]


def grouped_mm(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """Sort, gather, two grouped products, fp32 scatter; backward by autograd."""
    order = sort_by_expert(top_k_index, gate_up_proj.shape[0])
    h = _product(x.index_select(0, order.token), gate_up_proj.transpose(1, 2), order.offsets)
    gate, up = h.chunk(2, -1)
    act = F.silu(gate) * up * top_k_weights.reshape(-1).index_select(0, order.slot)[:, None]
    rows = _product(act, down_proj.transpose(1, 2), order.offsets)
    y = torch.zeros(x.shape, device=x.device, dtype=torch.float32)
    return y.index_add(0, order.token, rows.float()).to(x.dtype)


def grouped_mm_compiled(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """``grouped_mm`` under torch.compile."""
    return _compiled()(x, gate_up_proj, down_proj, top_k_index, top_k_weights)


def grouped_mm_own_backward(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """Grouped products with the backward by hand: no atomics, no backward of an index."""
    y: torch.Tensor = _GroupedMm.apply(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    return y


@cache
def _compiled() -> Callable[..., torch.Tensor]:
    # Not dynamic: else a draw of another shape would leave a slower kernel for the timed one.
    fused: Callable[..., torch.Tensor] = torch.compile(grouped_mm, dynamic=False)
    return fused


def _product(a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    # Public since PyTorch 2.10; the same under another name before.
    call = getattr(F, "grouped_mm", None) or torch._grouped_mm
    product: torch.Tensor = call(a, b, offs=offsets)
    return product


class _GroupedMm(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
        x, gate_up, down, index, weights = inputs
        order = sort_by_expert(index, gate_up.shape[0])
        h = _product(x.index_select(0, order.token), gate_up.transpose(1, 2), order.offsets)
        gate, up = h.chunk(2, -1)
        weight = weights.reshape(-1).index_select(0, order.slot)[:, None]
        act = F.silu(gate).mul_(up).mul_(weight)
        rows = _product(act, down.transpose(1, 2), order.offsets)
        ctx.save_for_backward(x, gate_up, down, h, weight, *order)
        return order.reduce(rows, x.shape[0])

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, gate_up, down, h, weight, *kept = ctx.saved_tensors
        order = Sorted(*kept)
        dy = upstream[0].index_select(0, order.token)
        d_act = _product(dy, down, order.offsets)
        act, dh, d_weights = activation_backward(h, d_act, weight, order.slot)
        d_down = _product(dy.t(), act, order.offsets)
        dx = order.reduce(_product(dh, gate_up, order.offsets), x.shape[0])
        d_gate_up = _product(dh.t(), x.index_select(0, order.token), order.offsets)
        return dx, d_gate_up, d_down, None, d_weights.view(x.shape[0], -1).to(weight.dtype)
