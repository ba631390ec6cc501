"""Forward and backward as sequences of kernels, on the device, with no host synchronisation."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from .config import Launch, choose_launch
from .engine import make_engine
from .reduce import reduce_rows
from .routing import Layout, plan_layout, route, view_routing
from .start import Start, launch
from .values import Gradients, Inputs, Saved

if TYPE_CHECKING:
    from .shape import Shape

Plan = tuple[Launch, Layout]


def plan_for(shape: Shape, capability: tuple[int, int]) -> Plan:
    """The configuration and the buffer sizes; the same in forward and backward."""
    config = choose_launch(shape, capability)
    return config, plan_layout(shape, config.block_rows, config.align)


@lru_cache(maxsize=256)
def plan_on(shape: Shape, device: torch.device) -> Plan:
    """The plan for a device."""
    # Triton's interpreter runs the portable kernels on CPU tensors, in tests only.
    capability = torch.cuda.get_device_capability(device) if device.type == "cuda" else (8, 0)
    return plan_for(shape, capability)


def run_forward(shape: Shape, inputs: Inputs, save: bool = True) -> tuple[torch.Tensor, Saved]:
    """F0 routing, F1 up and SwiGLU, F2 down, F3 sum of each token's rows.

    Inputs are contiguous. Without `save`, h is not written: two thirds of F1's output.
    """
    with torch.cuda.device_of(inputs.x):  # Triton launches on the current device
        return forward(plan_on(shape, inputs.x.device), inputs, save, launch)


def run_backward(
    shape: Shape,
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_weights: torch.Tensor,
    saved: Saved,
) -> Gradients:
    """B1 dh, B4 dW down, B2 and B3 dx and the router gradient, B5 dW up. `saved` is not changed."""
    with torch.cuda.device_of(x):
        plan = plan_on(shape, x.device)
        return backward(plan, dy, x, gate_up_proj, down_proj, top_k_weights, saved, launch)


def forward(plan: Plan, inputs: Inputs, save: bool, start: Start) -> tuple[torch.Tensor, Saved]:
    """`run_forward` by a plan, on the current device."""
    config, layout = plan
    x = inputs.x
    _, hidden, inter = inputs.down_proj.shape
    engine = make_engine(config, start)
    routing = route(inputs.top_k_index, inputs.top_k_weights, layout, start)
    h = x.new_empty(layout.rows if save else 0, 2 * inter)
    act = x.new_empty(layout.rows, inter)
    # Before F1: a mode of PyTorch's fills what is new, and F2 begins while F1 still runs.
    y = x.new_empty(layout.rows, hidden)
    engine.up(x, inputs.gate_up_proj, routing, h, act)
    engine.gemm(act, inputs.down_proj, routing, y, True)
    out = torch.empty_like(x)
    reduce_rows(y, routing, out, start=start)
    return out, Saved(h, act, routing.index, routing.row_weight)


def backward(
    plan: Plan,
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_weights: torch.Tensor,
    saved: Saved,
    start: Start,
) -> Gradients:
    """`run_backward` by a plan, on the current device."""
    config, layout = plan
    engine = make_engine(config, start)
    routing = view_routing(layout, saved.plan, saved.row_weight)
    dh = torch.empty_like(saved.h)
    part = engine.down_grad(dy, down_proj, routing, saved.h, dh)
    d_down = torch.empty_like(down_proj)
    engine.grad_weight(dy, saved.act, routing, d_down, True)
    dx_rows = x.new_empty(layout.rows, x.shape[1])
    engine.gemm(dh, gate_up_proj, routing, dx_rows, False)
    dx, d_weights = torch.empty_like(x), torch.empty_like(top_k_weights)
    reduce_rows(dx_rows, routing, dx, part, d_weights, start)
    del dx_rows  # lets the largest gradient take its memory
    d_gate_up = torch.empty_like(gate_up_proj)
    engine.grad_weight(dh, x, routing, d_gate_up, False)
    return Gradients(dx, d_gate_up, d_down, d_weights)
