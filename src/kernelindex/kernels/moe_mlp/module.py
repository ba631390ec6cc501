"""A module in the place of Transformers' fused expert blocks: Qwen3-MoE, Mixtral, DeepSeek-V3.

Those blocks hold `gate_up_proj` [E, 2I, H] and `down_proj` [E, H, I] as parameters and are called
as `experts(hidden_states, top_k_index, top_k_weights)`; so is this one, with the same names in its
state dict. Only SiLU is computed; biases and other activations are refused.
"""

from __future__ import annotations

import torch
from torch import nn

from .errors import MoeMlpError
from .op import moe_mlp


class MoeExperts(nn.Module):
    """The experts of one layer, E of them.

    gate_up_proj  [E, 2I, H]
    down_proj     [E, H, I]
    """

    def __init__(
        self,
        num_experts: int,
        hidden_size: int,
        intermediate_size: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        wide = (num_experts, 2 * intermediate_size, hidden_size)
        narrow = (num_experts, hidden_size, intermediate_size)
        self.gate_up_proj = nn.Parameter(torch.empty(wide, device=device, dtype=dtype))
        self.down_proj = nn.Parameter(torch.empty(narrow, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws both weights from N(0, 0.02), as Transformers initialises them."""
        nn.init.normal_(self.gate_up_proj, std=0.02)
        nn.init.normal_(self.down_proj, std=0.02)

    def forward(
        self, hidden_states: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor
    ) -> torch.Tensor:
        """hidden_states [..., H], top_k_index and top_k_weights [T, K] -> as hidden_states."""
        flat = hidden_states.reshape(-1, hidden_states.shape[-1])
        out = moe_mlp(flat, self.gate_up_proj, self.down_proj, top_k_index, top_k_weights)
        return out.view(hidden_states.shape)

    def extra_repr(self) -> str:
        experts, hidden, inter = self.down_proj.shape
        return f"experts={experts}, hidden={hidden}, intermediate={inter}"

    @classmethod
    def from_experts(cls, block: nn.Module) -> MoeExperts:
        """Takes over the parameters of a Transformers block; nothing is copied.

        Raises MoeMlpError: block, where its parameters or activation are not what is computed here.
        """
        gate_up, down = getattr(block, "gate_up_proj", None), getattr(block, "down_proj", None)
        if not isinstance(gate_up, nn.Parameter) or not isinstance(down, nn.Parameter):
            raise MoeMlpError(
                "block", f"{type(block).__name__} holds no gate_up_proj and down_proj parameters"
            )
        experts, hidden, inter = down.shape
        if tuple(gate_up.shape) != (experts, 2 * inter, hidden):
            raise MoeMlpError(
                "block",
                f"gate_up_proj is {tuple(gate_up.shape)} beside down_proj {tuple(down.shape)}, "
                f"wanted {(experts, 2 * inter, hidden)}",
            )
        _check_activation(block)
        module = cls(experts, hidden, inter, device="meta")
        module.gate_up_proj, module.down_proj = gate_up, down
        return module


def replace_experts(model: nn.Module) -> int:
    """Puts MoeExperts in the place of every block that `from_experts` accepts; how many it was."""
    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if not isinstance(child, MoeExperts)
        and isinstance(getattr(child, "gate_up_proj", None), nn.Parameter)
        and isinstance(getattr(child, "down_proj", None), nn.Parameter)
    ]
    for parent, name, child in found:
        setattr(parent, name, MoeExperts.from_experts(child))
    return len(found)


def _check_activation(block: nn.Module) -> None:
    activation = getattr(block, "act_fn", None)
    probe = torch.tensor([-2.0, 0.5, 3.0])
    if callable(activation) and not torch.allclose(activation(probe), nn.functional.silu(probe)):
        raise MoeMlpError("block", f"{type(block).__name__} does not use SiLU: {activation}")
    if getattr(block, "gate_up_proj_bias", None) is not None:
        raise MoeMlpError(
            "block", f"{type(block).__name__} has biases, which are not computed here"
        )
