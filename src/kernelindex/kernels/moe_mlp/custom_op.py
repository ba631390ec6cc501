"""The operation as `torch.library` custom operators, for torch.compile and export.

    kernelindex::moe_mlp           x, weights, index, router weights -> y, h, act, plan, row weight
    kernelindex::moe_mlp_backward  upstream gradient, inputs, what was saved -> four gradients

On the CPU the reference computes both and nothing is saved.
"""

from __future__ import annotations

from typing import Any

import torch

from . import reference
from .passes import plan_for, run_backward, run_forward
from .shape import read_shape
from .values import Inputs, Saved

Five = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Four = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


@torch.library.custom_op("kernelindex::moe_mlp", mutates_args=(), device_types="cuda")
def moe_mlp_op(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    save: bool,
) -> Five:
    shape = read_shape(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    inputs = Inputs(x, gate_up_proj, down_proj, top_k_index, top_k_weights).dense()
    out, saved = run_forward(shape, inputs, save)
    return out, *saved


@moe_mlp_op.register_kernel("cpu")
def _moe_mlp_cpu(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    save: bool,
) -> Five:
    read_shape(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    out = reference.forward(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    return out, *_nothing_saved(x)


@moe_mlp_op.register_fake
def _moe_mlp_fake(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    save: bool,
) -> Five:
    shape = read_shape(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if not x.is_cuda:
        return out, *_nothing_saved(x)
    _, layout = plan_for(shape, torch.cuda.get_device_capability(x.device))
    return (
        out,
        x.new_empty(layout.rows if save else 0, 2 * shape.inter),
        x.new_empty(layout.rows, shape.inter),
        x.new_empty(layout.index_size, dtype=torch.int32),
        x.new_empty(layout.rows, dtype=torch.float32),
    )


@torch.library.custom_op("kernelindex::moe_mlp_backward", mutates_args=(), device_types="cuda")
def moe_mlp_backward_op(
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    h: torch.Tensor,
    act: torch.Tensor,
    plan: torch.Tensor,
    row_weight: torch.Tensor,
) -> Four:
    shape = read_shape(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    saved = Saved(h, act, plan, row_weight)
    return run_backward(shape, dy, x, gate_up_proj, down_proj, top_k_weights, saved)


@moe_mlp_backward_op.register_kernel("cpu")
def _moe_mlp_backward_cpu(
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    h: torch.Tensor,
    act: torch.Tensor,
    plan: torch.Tensor,
    row_weight: torch.Tensor,
) -> Four:
    return reference.backward(dy, x, gate_up_proj, down_proj, top_k_index, top_k_weights)


@moe_mlp_backward_op.register_fake
def _moe_mlp_backward_fake(
    dy: torch.Tensor,
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
    h: torch.Tensor,
    act: torch.Tensor,
    plan: torch.Tensor,
    row_weight: torch.Tensor,
) -> Four:
    x_, gate_up_, down_, weights_ = (
        torch.empty_like(t, memory_format=torch.contiguous_format)
        for t in (x, gate_up_proj, down_proj, top_k_weights)
    )
    return x_, gate_up_, down_, weights_


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Five) -> None:
    ctx.save_for_backward(*inputs[:5], *output[1:])


def _backward(ctx: Any, dy: torch.Tensor, *_: Any) -> tuple[Any, ...]:
    dx, d_gate_up, d_down, d_weights = moe_mlp_backward_op(dy, *ctx.saved_tensors)
    return dx, d_gate_up, d_down, None, d_weights, None


moe_mlp_op.register_autograd(_backward, setup_context=_setup_context)


def _nothing_saved(x: torch.Tensor) -> Four:
    return (
        x.new_empty(0),
        x.new_empty(0),
        x.new_empty(0, dtype=torch.int32),
        x.new_empty(0, dtype=torch.float32),
    )
