"""Rows sorted by expert, and the parts of a hand-written backward that loops and groups share."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional as F

__all__ = ["Sorted", "activation_backward", "sort_by_expert"]

Span = tuple[int, slice]


class Sorted(NamedTuple):
    """T*K routed rows in the order of their experts.

    slot    [T*K]  int64, position in the flattened index of each sorted row
    inverse [T*K]  int64, sorted row of each position
    token   [T*K]  int64, token of each sorted row
    offsets [E]    int32, one past the last row of each expert
    """

    slot: torch.Tensor
    inverse: torch.Tensor
    token: torch.Tensor
    offsets: torch.Tensor

    def spans(self) -> list[Span]:
        """Every expert and its rows; waits for the device."""
        ends = [0, *self.offsets.tolist()]
        return [(e, slice(ends[e], ends[e + 1])) for e in range(len(ends) - 1)]

    def reduce(self, rows: torch.Tensor, tokens: int) -> torch.Tensor:
        """Sorted rows [T*K, H] summed for each token, [T, H]."""
        top_k = rows.shape[0] // tokens
        return rows.index_select(0, self.inverse).view(tokens, top_k, -1).sum(1)


def sort_by_expert(index: torch.Tensor, experts: int) -> Sorted:
    """The order of ``index`` [T, K] by expert; no wait for the host."""
    keys, slot = torch.sort(index.reshape(-1))
    # Integers on CUDA, floating on the CPU: that is what torch.histc takes on each.
    keys = keys if keys.is_cuda else keys.float()
    counts = torch.histc(keys, bins=experts, min=0, max=experts - 1)
    inverse = torch.empty_like(slot)
    inverse[slot] = torch.arange(slot.numel(), device=slot.device)
    offsets = torch.cumsum(counts, 0, dtype=torch.int32)
    return Sorted(slot, inverse, slot // index.shape[1], offsets)


def activation_backward(
    h: torch.Tensor, d_act: torch.Tensor, weight: torch.Tensor, slot: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weighted activation, gradient of gate and up, and of the routing weights (flat, fp32).

    h      [T*K, 2I]  gate and up, sorted
    d_act  [T*K, I]   gradient of the activation before its weight; overwritten
    weight [T*K, 1]   routing weights, sorted
    """
    gate, up = h.chunk(2, -1)
    silu = F.silu(gate)
    act = silu * up
    d_weights = torch.empty(h.shape[0], device=h.device, dtype=torch.float32)
    d_weights[slot] = (d_act.float() * act.float()).sum(-1)
    act.mul_(weight)
    d_act.mul_(weight)
    dh = torch.empty_like(h)
    half = gate.shape[1]
    torch.mul(d_act, silu, out=dh[:, half:])
    dh[:, :half] = torch.ops.aten.silu_backward(d_act * up, gate)
    return act, dh, d_weights
