"""Forward and backward as sequences of kernels, on the device, with no host synchronisation."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from .config import Launch, choose_launch
from .engine import make_engine
from .reduce import reduce_rows
from .routing import Layout, plan_layout, route, view_routing
from .values import Gradients, Inputs, Saved, dense

if TYPE_CHECKING:
    from .shape import Shape


def plan_for(shape: Shape, capability: tuple[int, int]) -> tuple[Launch, Layout]:
    """The configuration and the buffer sizes; the same in forward and backward."""
    launch = choose_launch(shape, capability)
    return launch, plan_layout(shape, launch.block_rows, launch.align)


def run_forward(shape: Shape, inputs: Inputs, save: bool = True) -> tuple[torch.Tensor, Saved]:
    """F0 routing, F1 up and SwiGLU, F2 down, F3 sum of each token's rows.

    Inputs are contiguous. Without `save`, h is not written: two thirds of F1's output. Where the
    inputs have no memory, kernels are only compiled, here and in the backward; `new_empty` because
    `empty_like` imports sympy for such tensors, half a second or more.
    """
    x = inputs.x
    with torch.cuda.device_of(x):  # Triton launches on the current device
        launch, layout = plan_on(shape, x.device)
        engine = make_engine(launch)
        routing = route(inputs.top_k_index, inputs.top_k_weights, layout)
        h = x.new_empty(layout.rows if save else 0, 2 * shape.inter)
        act = x.new_empty(layout.rows, shape.inter)
        # Before F1: a mode of PyTorch's fills what is new, and F2 begins while F1 still runs.
        y = x.new_empty(layout.rows, shape.hidden)
        engine.up(x, inputs.gate_up_proj, routing, h, act)
        engine.gemm(act, inputs.down_proj, routing, y, True)
        out = x.new_empty(x.shape)
        reduce_rows(y, routing, out)
        return out, Saved(h, act, routing.index, routing.row_weight)


def run_backward(
    shape: Shape,
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_weights: torch.Tensor,
    saved: Saved,
) -> Gradients:
    """B1 dh, B4 dW down, B2 and B3 dx and the router gradient, B5 dW up. `saved` is not changed.

    Any tensor may have gaps or lie anywhere: whoever packs what is saved gives others back.
    """
    dy, x, gate_up_proj, down_proj = (dense(one) for one in (dy, x, gate_up_proj, down_proj))
    saved = Saved(*(dense(one) for one in saved))
    with torch.cuda.device_of(x):
        launch, layout = plan_on(shape, x.device)
        engine = make_engine(launch)
        routing = view_routing(layout, saved.plan, saved.row_weight)
        dh = saved.h.new_empty(saved.h.shape)
        part = engine.down_grad(dy, down_proj, routing, saved.h, dh)
        d_down = down_proj.new_empty(down_proj.shape)
        engine.grad_weight(dy, saved.act, routing, d_down, True)
        dx_rows = x.new_empty(layout.rows, shape.hidden)
        engine.gemm(dh, gate_up_proj, routing, dx_rows, False)
        dx, d_weights = x.new_empty(x.shape), top_k_weights.new_empty(top_k_weights.shape)
        reduce_rows(dx_rows, routing, dx, part, d_weights)
        del dx_rows  # lets the largest gradient take its memory
        d_gate_up = gate_up_proj.new_empty(gate_up_proj.shape)
        engine.grad_weight(dh, x, routing, d_gate_up, False)
        return Gradients(dx, d_gate_up, d_down, d_weights)


def plan_on(shape: Shape, device: torch.device) -> tuple[Launch, Layout]:
    """The plan for tensors on a device; what has no memory is compiled for the current one."""
    if device.type == "meta":
        device = torch.device("cuda", torch.cuda.current_device())
    return _plan_on(shape, device)


@lru_cache(maxsize=256)
def _plan_on(shape: Shape, device: torch.device) -> tuple[Launch, Layout]:
    # Triton's interpreter runs the portable kernels on CPU tensors, in tests only.
    capability = torch.cuda.get_device_capability(device) if device.type == "cuda" else (8, 0)
    return plan_for(shape, capability)
