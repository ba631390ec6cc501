"""Loops over experts in plain PyTorch: the public harness's, written anew, and one over cuBLAS."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from kernelindex.runner.operations.moe_mlp.sorting import (
    Sorted,
    activation_backward,
    sort_by_expert,
)

__all__ = ["cublas_loop", "expert_loop"]


def expert_loop(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """What Liger's script calls ``huggingface``: the same operators in the same order, own text.

    It waits for the device once for the list of experts hit and again for every expert, as its
    model does: an expert's number stays on the device and picks its weights from there.
    """
    experts = gate_up_proj.shape[0]
    y = torch.zeros_like(x)
    with torch.no_grad():
        mask = F.one_hot(top_k_index.long(), num_classes=experts).permute(2, 1, 0)
        chosen = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
    for row in chosen:
        expert = row[0]
        choice, token = torch.where(mask[expert])
        gate, up = F.linear(x[token], gate_up_proj[expert]).chunk(2, dim=-1)
        rows = F.linear(F.silu(gate) * up, down_proj[expert])
        rows = rows * top_k_weights[token, choice, None]
        y.index_add_(0, token, rows.to(y.dtype))
    return y


def cublas_loop(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """One dense product for each expert over sorted rows, backward by hand, one wait in all."""
    y: torch.Tensor = _CublasLoop.apply(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    return y


class _CublasLoop(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
        x, gate_up, down, index, weights = inputs
        order = sort_by_expert(index, gate_up.shape[0])
        spans = order.spans()
        rows = x.index_select(0, order.token)
        h = x.new_empty(index.numel(), gate_up.shape[1])
        for e, span in spans:
            if span.start < span.stop:
                torch.mm(rows[span], gate_up[e].t(), out=h[span])
        gate, up = h.chunk(2, -1)
        weight = weights.reshape(-1).index_select(0, order.slot)[:, None]
        act = F.silu(gate).mul_(up).mul_(weight)
        y = x.new_empty(index.numel(), x.shape[1])
        for e, span in spans:
            if span.start < span.stop:
                torch.mm(act[span], down[e].t(), out=y[span])
        ctx.save_for_backward(x, gate_up, down, h, weight, *order)
        ctx.spans = spans
        return order.reduce(y, x.shape[0])

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, gate_up, down, h, weight, *kept = ctx.saved_tensors
        order = Sorted(*kept)
        dy = upstream[0].index_select(0, order.token)
        rows = x.index_select(0, order.token)
        d_act = h.new_empty(h.shape[0], down.shape[2])
        for e, span in ctx.spans:
            if span.start < span.stop:
                torch.mm(dy[span], down[e], out=d_act[span])
        act, dh, d_weights = activation_backward(h, d_act, weight, order.slot)
        d_gate_up, d_down = torch.empty_like(gate_up), torch.empty_like(down)
        dx = torch.empty_like(rows)
        for e, span in ctx.spans:
            if span.start == span.stop:
                d_gate_up[e].zero_()
                d_down[e].zero_()
                continue
            torch.mm(dy[span].t(), act[span], out=d_down[e])
            torch.mm(dh[span], gate_up[e], out=dx[span])
            torch.mm(dh[span].t(), rows[span], out=d_gate_up[e])
        dx = order.reduce(dx, x.shape[0])
        return dx, d_gate_up, d_down, None, d_weights.view(x.shape[0], -1).to(weight.dtype)
