"""`moe_mlp`, the entry point: the expert MLP of a mixture-of-experts layer, for training."""

from __future__ import annotations

from typing import Any

import torch

from .compilation import prepare
from .custom_op import moe_mlp_op
from .passes import run_backward, run_forward
from .shape import Shape, read_shape
from .values import Inputs, Saved


def moe_mlp(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """y[t] = sum over k of w[t, k] * down[e] @ (silu(gate[e] @ x[t]) * (up[e] @ x[t])).

    x             [T, H]      bf16 or fp16; on the CPU also fp32 and fp64
    gate_up_proj  [E, 2I, H]  gate rows, then up rows, of each expert
    down_proj     [E, H, I]
    top_k_index   [T, K]      int32 or int64, e = top_k_index[t, k]; outside [0, E) it is no expert
                              and the pair adds nothing
    top_k_weights [T, K]      floating
    returns       [T, H]      in x's type

    Differentiable in x, both weights and top_k_weights. On a GPU: H and I multiples of 64, no host
    synchronisation, the same bits from run to run, capturable in a CUDA graph. Under autocast the
    floating inputs are cast to autocast's type.

    Raises MoeMlpError before any launch: rank, axes, dtype, device, tile.
    """
    x, gate_up_proj, down_proj, top_k_weights = _autocast(x, gate_up_proj, down_proj, top_k_weights)
    inputs = Inputs(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    save = torch.is_grad_enabled() and any(t.requires_grad for t in inputs)
    if torch.compiler.is_compiling() or not x.is_cuda or x.shape[0] == 0:
        return _general(inputs, save)
    shape = read_shape(*inputs)
    prepare(shape, inputs, save)
    if not save:
        return run_forward(shape, inputs.dense(), save=False)[0]
    out: torch.Tensor = _Eager.apply(shape, *inputs)
    return out


class _Eager(torch.autograd.Function):
    """The same kernels without the custom operator's dispatch, tens of microseconds a call."""

    @staticmethod
    def forward(ctx: Any, shape: Shape, *args: torch.Tensor) -> torch.Tensor:
        inputs = Inputs(*args).dense()
        out, saved = run_forward(shape, inputs)
        ctx.shape = shape
        kept = (inputs.x, inputs.gate_up_proj, inputs.down_proj, inputs.top_k_weights)
        ctx.save_for_backward(*kept, *saved)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, gate_up, down, weights, *saved = ctx.saved_tensors
        g = run_backward(ctx.shape, dy, x, gate_up, down, weights, Saved(*saved))
        return None, g.x, g.gate_up_proj, g.down_proj, None, g.top_k_weights


def _general(args: Inputs, save: bool) -> torch.Tensor:
    if args[0].shape[0] == 0:  # no tokens: nothing to launch, every gradient is zero
        read_shape(*args)
        return args[0] * 1.0 + 0.0 * (args[1].sum() + args[2].sum() + args[4].sum())
    out: torch.Tensor = moe_mlp_op(*args, save)[0]
    return out


def _autocast(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(t.to(dtype) for t in tensors)
