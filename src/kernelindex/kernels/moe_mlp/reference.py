"""The operation in plain PyTorch: what the CPU runs, and what the kernels are tested against.

    gate | up = gate_up_proj[e] @ x[t]              e = top_k_index[t, k]
    y[t]      = sum over k of top_k_weights[t, k] * down_proj[e] @ (silu(gate) * up)

Computed in `compute` (fp32 by default, fp64 for checks) from the inputs' values, rounded once.
"""

from __future__ import annotations

import torch

from .values import Gradients


def forward(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    compute: torch.dtype | None = None,
) -> torch.Tensor:
    """The output [T, H] in x's type; differentiable by autograd where its inputs are."""
    compute = compute or _compute_type(x.dtype)
    out = torch.zeros(x.shape, dtype=compute, device=x.device)
    for e in range(down_proj.shape[0]):
        t, k = torch.where(top_k_index == e)
        if t.numel() == 0:
            continue
        gate, up = (x[t].to(compute) @ gate_up_proj[e].to(compute).T).chunk(2, dim=-1)
        rows = (torch.nn.functional.silu(gate) * up) @ down_proj[e].to(compute).T
        out = out.index_add(0, t, rows * top_k_weights[t, k].to(compute)[:, None])
    return out.to(x.dtype)


def backward(
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    compute: torch.dtype | None = None,
) -> Gradients:
    """The four gradients by formula, independent of autograd, in the inputs' types."""
    compute = compute or _compute_type(x.dtype)
    dx = torch.zeros(x.shape, dtype=compute, device=x.device)
    d_gate_up = torch.zeros_like(gate_up_proj)
    d_down = torch.zeros_like(down_proj)
    d_weights = torch.zeros(top_k_weights.shape, dtype=compute, device=x.device)
    for e in range(down_proj.shape[0]):
        t, k = torch.where(top_k_index == e)
        if t.numel() == 0:
            continue
        w1, w2 = gate_up_proj[e].to(compute), down_proj[e].to(compute)
        a, g = x[t].to(compute), dy[t].to(compute)
        weight = top_k_weights[t, k].to(compute)[:, None]
        gate, up = (a @ w1.T).chunk(2, dim=-1)
        s = torch.sigmoid(gate)
        act = gate * s * up
        d_weights[t, k] = ((act @ w2.T) * g).sum(-1)
        d_down[e] = ((g * weight).T @ act).to(d_down.dtype)
        d_act = (g * weight) @ w2
        dh = torch.cat([d_act * up * (s + gate * s * (1 - s)), d_act * gate * s], dim=-1)
        d_gate_up[e] = (dh.T @ a).to(d_gate_up.dtype)
        dx = dx.index_add(0, t, dh @ w1)
    return Gradients(dx.to(x.dtype), d_gate_up, d_down, d_weights.to(top_k_weights.dtype))


def _compute_type(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32
