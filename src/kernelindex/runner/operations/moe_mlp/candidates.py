"""Adapters of libraries' own expert MLPs; each imports its library when it is first called.

x [T, H]   gate_up_proj [E, 2I, H]   down_proj [E, H, I]   top_k_index [T, K] int32
top_k_weights [T, K]   ->   y [T, H]

No adapter copies or converts an expert's weights: gate rows before up rows is the layout of every
one of these libraries, SonicMoE's under its ``concat_layout``. So none has a ``prepare``, and none
gains from weights that stay the same between calls.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.moe_mlp.compiling import compile_side_by_side
from kernelindex.runner.operations.packages import require

if TYPE_CHECKING:
    import numpy as np
    import torch

__all__ = ["liger", "numpy_loop", "transformers_eager", "transformers_grouped_mm"]


def liger(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """Liger-Kernel's autograd function, as its own benchmark calls it."""
    y: torch.Tensor = _liger().apply(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    return y


def transformers_eager(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """The loop of the released library's Qwen3-MoE experts.

    The block takes int64 experts, as its router gives them, so the conversion is in the call.
    """
    block = _experts("eager", gate_up_proj, down_proj, top_k_index)
    y: torch.Tensor = block(x, top_k_index.long(), top_k_weights)
    return y


def transformers_grouped_mm(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> torch.Tensor:
    """The released library's experts over torch's grouped product."""
    block = _experts("grouped_mm", gate_up_proj, down_proj, top_k_index)
    y: torch.Tensor = block(x, top_k_index, top_k_weights)
    return y


def numpy_loop(
    x: np.ndarray,
    gate_up_proj: np.ndarray,
    down_proj: np.ndarray,
    top_k_index: np.ndarray,
    top_k_weights: np.ndarray,
) -> np.ndarray:
    """Two dense products for each expert that a token chose."""
    import numpy as np

    half = down_proj.shape[2]
    y = np.zeros_like(x)
    for expert in np.unique(top_k_index):
        token, choice = np.nonzero(top_k_index == expert)
        h = x[token] @ gate_up_proj[expert].T
        gate, up = h[:, :half], h[:, half:]
        rows = (gate / (1 + np.exp(-gate)) * up) @ down_proj[expert].T
        # A token chooses an expert once, so no row is added to twice in one step.
        y[token] += rows * top_k_weights[token, choice, None]
    return y


@cache
def _liger() -> Any:
    function = require("liger-kernel", "liger_kernel.ops.fused_moe", "LigerFusedMoEFunction")
    compile_side_by_side(import_module("liger_kernel.ops.fused_moe_kernels"))
    return function


def _experts(
    implementation: str, gate_up: torch.Tensor, down: torch.Tensor, index: torch.Tensor
) -> Any:
    """The library's block with these tensors in the place of its parameters."""
    block = _block(implementation, *down.shape, index.shape[1])
    block.__dict__.update(gate_up_proj=gate_up, down_proj=down)
    return block


@cache
def _block(implementation: str, experts: int, hidden: int, intermediate: int, top_k: int) -> Any:
    import torch

    package = "transformers.models.qwen3_moe"
    config = require("transformers", f"{package}.configuration_qwen3_moe", "Qwen3MoeConfig")(
        hidden_size=hidden,
        moe_intermediate_size=intermediate,
        num_experts=experts,
        num_experts_per_tok=top_k,
        num_hidden_layers=1,
    )
    config._experts_implementation = implementation
    with torch.device("meta"):
        block = require("transformers", f"{package}.modeling_qwen3_moe", "Qwen3MoeExperts")(config)
    # Parameters must be leaves; plain attributes take the caller's tensors, leaf or not.
    del block.gate_up_proj, block.down_proj
    return block
