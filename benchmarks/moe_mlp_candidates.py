"""Candidates of `moe_mlp.py`: each builder takes the five inputs and returns a forward call.

x [T, H]   gate_up_proj [E, 2I, H]   down_proj [E, H, I]   index int32 [T, K]   weights [T, K]
"""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Forward = Callable[[], torch.Tensor]


def ours(*inputs: torch.Tensor) -> Forward:
    """`kernelindex.kernels.moe_mlp`."""
    from kernelindex.kernels.moe_mlp import moe_mlp

    return lambda: moe_mlp(*inputs)


def liger(*inputs: torch.Tensor) -> Forward:
    """Liger-Kernel's fused expert MLP."""
    from liger_kernel.ops.fused_moe import LigerFusedMoEFunction

    return lambda: LigerFusedMoEFunction.apply(*inputs)


def sonic(
    x: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor, index: torch.Tensor, w: torch.Tensor
) -> Forward:
    """SonicMoE with its default tiles: its autotuner is answered with no configuration."""
    tuner = import_module("quack.autotuner").Autotuner
    tuner.__call__ = lambda self, *a, **k: self.fn(*a, **{"config": None, **k})
    swiglu = import_module("sonicmoe.enums").ActivationType.SWIGLU
    functional = import_module("sonicmoe.functional")
    metadata = import_module("sonicmoe.functional.triton_kernels").TC_topk_router_metadata_triton
    tokens, top_k = index.shape
    experts = gate_up.shape[0]

    def ints(n: int) -> torch.Tensor:
        return torch.empty(n, dtype=torch.int32, device=x.device)

    def forward() -> torch.Tensor:
        slots = tokens * top_k
        scatter, reverse, gather = ints(slots), ints(slots), ints(slots)
        frequency, offset = ints(experts), ints(experts + 1)
        metadata(index, experts, frequency, offset, gather, scatter, reverse)
        routing = (offset, slots, top_k, gather, scatter, reverse)
        up = gate_up.permute(1, 2, 0)
        a, h = functional._UpProjection.apply(
            x, up, None, *routing, None, False, swiglu, False, True
        )
        routing = (offset, tokens, top_k, gather, scatter, reverse)
        return functional._DownProjection.apply(
            a, h, down.permute(1, 2, 0), None, w.float(), *routing, None, False, swiglu
        )

    return forward


def _grouped(a: torch.Tensor, b: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    call = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    return call(a, b, offs=offsets)


class _GroupedMm(torch.autograd.Function):
    """torch's grouped product with the backward written by hand: no atomics, no index backward."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
        x, gate_up, down, index, w = inputs
        tokens, top_k = index.shape
        experts = gate_up.shape[0]
        sorted_experts, order = torch.sort(index.reshape(-1))
        counts = torch.histc(sorted_experts, bins=experts, min=0, max=experts - 1)
        offsets = torch.cumsum(counts, 0, dtype=torch.int32)
        inverse = torch.empty_like(order)
        inverse[order] = torch.arange(order.numel(), device=order.device)
        token = order // top_k
        h = _grouped(x.index_select(0, token), gate_up.transpose(1, 2), offsets)
        gate, up = h.chunk(2, -1)
        weight = w.reshape(-1).index_select(0, order)[:, None]
        act = torch.nn.functional.silu(gate).mul_(up).mul_(weight)
        y = _grouped(act, down.transpose(1, 2), offsets)
        ctx.save_for_backward(x, gate_up, down, h, token, order, inverse, offsets, weight)
        ctx.top_k = top_k
        return y.index_select(0, inverse).view(tokens, top_k, -1).sum(1)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, gate_up, down, h, token, order, inverse, offsets, weight = ctx.saved_tensors
        gate, up = h.chunk(2, -1)
        rows = dy.index_select(0, token)
        da = _grouped(rows, down, offsets)
        silu = torch.nn.functional.silu(gate)
        act = silu * up
        dw = torch.empty(order.numel(), device=x.device, dtype=torch.float32)
        dw[order] = (da.float() * act.float()).sum(-1)
        act.mul_(weight)
        da.mul_(weight)
        dh = torch.empty_like(h)
        half = gate.shape[1]
        torch.mul(da, silu, out=dh[:, half:])
        dh[:, :half] = torch.ops.aten.silu_backward(da * up, gate)
        d_down = _grouped(rows.t(), act, offsets)
        dx = _grouped(dh, gate_up, offsets).index_select(0, inverse)
        d_gate_up = _grouped(dh.t(), x.index_select(0, token), offsets)
        dx = dx.view(x.shape[0], ctx.top_k, -1).sum(1)
        return dx, d_gate_up, d_down, None, dw.view(-1, ctx.top_k).to(weight.dtype)


def torch_grouped_mm(*inputs: torch.Tensor) -> Forward:
    """The best that PyTorch alone does."""
    return lambda: _GroupedMm.apply(*inputs)


def cublas_loop(*inputs: torch.Tensor) -> Forward:
    """One pair of dense products for each expert, backward by autograd."""
    x, gate_up, down, index, w = inputs

    def forward() -> torch.Tensor:
        out = torch.zeros_like(x)
        for e in range(gate_up.shape[0]):
            token, k = torch.where(index == e)
            gate, up = torch.nn.functional.linear(x[token], gate_up[e]).chunk(2, -1)
            rows = torch.nn.functional.linear(torch.nn.functional.silu(gate) * up, down[e])
            out.index_add_(0, token, rows * w[token, k, None])
        return out

    return forward


def _transformers(inputs: Inputs, implementation: str) -> Forward:
    qwen = "transformers.models.qwen3_moe"
    config_type = import_module(f"{qwen}.configuration_qwen3_moe").Qwen3MoeConfig
    module_type = import_module(f"{qwen}.modeling_qwen3_moe").Qwen3MoeExperts
    x, gate_up, down, index, w = inputs
    config = config_type(
        hidden_size=x.shape[1],
        moe_intermediate_size=down.shape[2],
        num_experts=down.shape[0],
        num_experts_per_tok=index.shape[1],
        num_hidden_layers=1,
    )
    config._experts_implementation = implementation
    with torch.device("meta"):
        module = module_type(config)
    del module.gate_up_proj, module.down_proj
    module.__dict__.update(gate_up_proj=gate_up, down_proj=down)
    chosen = index.long() if implementation == "eager" else index
    return lambda: module(x, chosen, w)


def transformers_eager(*inputs: torch.Tensor) -> Forward:
    """The released library's own loop."""
    return _transformers(inputs, "eager")


def transformers_grouped_mm(*inputs: torch.Tensor) -> Forward:
    """The released library over torch's grouped product."""
    return _transformers(inputs, "grouped_mm")


CANDIDATES: dict[str, Callable[..., Forward]] = {
    "ours": ours,
    "sonic": sonic,
    "liger": liger,
    "torch_grouped_mm": torch_grouped_mm,
    "transformers_grouped_mm": transformers_grouped_mm,
    "cublas_loop": cublas_loop,
    "transformers_eager": transformers_eager,
}
DISTRIBUTIONS = ("torch", "triton", "transformers", "liger-kernel", "sonic-moe", "quack-kernels")


def compile_liger(worker: int, workers: int, inputs: Inputs) -> None:
    """Compiles this worker's share of Liger's configurations, timing none."""
    from triton.runtime.autotuner import Autotuner

    kernels = import_module("liger_kernel.ops.fused_moe_kernels")

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = None
        for config in self.mine[worker::workers] or self.mine[:1]:
            try:
                result = self.fn.run(*args, **{**kwargs, **config.all_kwargs()})
            except Exception:  # a configuration that does not fit this GPU
                continue
        return result

    for value in vars(kernels).values():
        if isinstance(value, Autotuner):
            value.mine = list(value.configs)
            value.run = types.MethodType(run, value)
    y = liger(*inputs)()
    y.backward(torch.randn_like(y))
    torch.cuda.synchronize()


def start_liger_workers(script: str, workers: int) -> list[subprocess.Popen[bytes]]:
    """Compiles Liger's configurations in parallel: one after the other takes minutes."""
    return [
        subprocess.Popen(
            [sys.executable, script, "--compile-liger", f"{i},{workers}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for i in range(workers)
    ]
