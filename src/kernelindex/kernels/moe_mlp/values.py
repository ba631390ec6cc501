"""The values that pass between forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without gaps, at an address that is a multiple of 16; copied only if it is not."""
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % 16 == 0 else tensor.clone()


class Inputs(NamedTuple):
    """The operation's inputs; shapes and types in op.moe_mlp."""

    x: torch.Tensor
    gate_up_proj: torch.Tensor
    down_proj: torch.Tensor
    top_k_index: torch.Tensor
    top_k_weights: torch.Tensor

    def dense(self) -> Inputs:
        """The same values as the kernels read them."""
        return Inputs(*(dense(tensor) for tensor in self))


class Saved(NamedTuple):
    """What forward keeps for backward, beside its inputs.

    h           [rows, 2I]    gate and up; empty where no gradient is wanted
    act         [rows, I]     silu(gate) * up * weight
    plan        int32         the routing buffers, see routing.Routing
    row_weight  fp32 [rows]   router weight of each row
    """

    h: torch.Tensor
    act: torch.Tensor
    plan: torch.Tensor
    row_weight: torch.Tensor


class Gradients(NamedTuple):
    """Gradients of the four inputs that have one, in their shapes and types."""

    x: torch.Tensor
    gate_up_proj: torch.Tensor
    down_proj: torch.Tensor
    top_k_weights: torch.Tensor
