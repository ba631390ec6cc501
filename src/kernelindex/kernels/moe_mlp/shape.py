"""One workload: its axes, the check of its tensors, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import MoeMlpError

if TYPE_CHECKING:
    import torch

DTYPES = ("bfloat16", "float16")
CPU_DTYPES = (*DTYPES, "float32", "float64")
STEP = 64  # every tile is a multiple of this in H and I


@dataclass(frozen=True)
class Shape:
    """Axes of one call: T tokens, H hidden, I intermediate, E experts, K experts a token."""

    tokens: int
    hidden: int
    inter: int
    experts: int
    top_k: int

    @property
    def slots(self) -> int:
        """Token-expert pairs, T * K."""
        return self.tokens * self.top_k

    def forward_flops(self) -> int:
        """Multiply-adds of the two projections, counted as two."""
        return 6 * self.slots * self.hidden * self.inter

    def backward_flops(self) -> int:
        """Two gradients for each projection."""
        return 2 * self.forward_flops()

    def forward_bytes(self, element_bytes: int = 2) -> int:
        """Inputs and outputs once; an expert nobody chose counts too."""
        weights = 3 * self.experts * self.hidden * self.inter
        return (
            element_bytes * (weights + 2 * self.tokens * self.hidden + self.slots) + 4 * self.slots
        )

    def backward_bytes(self, element_bytes: int = 2) -> int:
        """Inputs, upstream gradient and the four gradients once; nothing saved in between."""
        weights = 6 * self.experts * self.hidden * self.inter
        return (
            element_bytes * (weights + 3 * self.tokens * self.hidden + 2 * self.slots)
            + 4 * self.slots
        )


def power_of_2(n: int) -> int:
    """The least power of 2 that is no less than n."""
    return 1 << max(0, n - 1).bit_length()


def read_shape(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> Shape:
    """The axes of the five inputs, after checking that they agree.

    x             [T, H]      bf16, fp16 (CPU: fp32, fp64 too)
    gate_up_proj  [E, 2I, H]  as x
    down_proj     [E, H, I]   as x
    top_k_index   [T, K]      int32 or int64, each in [0, E)
    top_k_weights [T, K]      any floating type

    Raises MoeMlpError: rank, axes, dtype, device, tile.
    """
    tensors = {
        "x": (x, 2),
        "gate_up_proj": (gate_up_proj, 3),
        "down_proj": (down_proj, 3),
        "top_k_index": (top_k_index, 2),
        "top_k_weights": (top_k_weights, 2),
    }
    for name, (tensor, rank) in tensors.items():
        if tensor.dim() != rank:
            raise MoeMlpError("rank", f"{name} has {tensor.dim()} axes, wanted {rank}")
        if tensor.device != x.device:
            raise MoeMlpError("device", f"{name} is on {tensor.device}, x on {x.device}: move one")
    shape = Shape(
        x.shape[0], x.shape[1], down_proj.shape[2], down_proj.shape[0], top_k_index.shape[1]
    )
    _check_axes(shape, gate_up_proj, down_proj, top_k_index, top_k_weights)
    _check_types(x, gate_up_proj, down_proj, top_k_index, top_k_weights)
    if x.is_cuda:
        _check_tiles(shape)
    return shape


def _check_axes(
    shape: Shape,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> None:
    wanted = {
        "gate_up_proj": (gate_up_proj, (shape.experts, 2 * shape.inter, shape.hidden)),
        "down_proj": (down_proj, (shape.experts, shape.hidden, shape.inter)),
        "top_k_index": (top_k_index, (shape.tokens, shape.top_k)),
        "top_k_weights": (top_k_weights, (shape.tokens, shape.top_k)),
    }
    for name, (tensor, axes) in wanted.items():
        if tuple(tensor.shape) != axes:
            raise MoeMlpError("axes", f"{name} is {tuple(tensor.shape)}, wanted {axes}")


def _check_types(
    x: torch.Tensor,
    gate_up_proj: torch.Tensor,
    down_proj: torch.Tensor,
    top_k_index: torch.Tensor,
    top_k_weights: torch.Tensor,
) -> None:
    allowed = DTYPES if x.is_cuda else CPU_DTYPES
    name = str(x.dtype).removeprefix("torch.")
    if name not in allowed:
        raise MoeMlpError("dtype", f"x is {name}, wanted one of {', '.join(allowed)}: cast it")
    for label, tensor in (("gate_up_proj", gate_up_proj), ("down_proj", down_proj)):
        if tensor.dtype != x.dtype:
            raise MoeMlpError("dtype", f"{label} is {tensor.dtype}, x is {x.dtype}: cast one")
    if str(top_k_index.dtype) not in ("torch.int32", "torch.int64"):
        raise MoeMlpError("dtype", f"top_k_index is {top_k_index.dtype}, wanted int32 or int64")
    if not top_k_weights.dtype.is_floating_point:
        raise MoeMlpError("dtype", f"top_k_weights is {top_k_weights.dtype}, wanted a float type")


def _check_tiles(shape: Shape) -> None:
    for axis, size in (("H", shape.hidden), ("I", shape.inter)):
        if size == 0 or size % STEP:
            raise MoeMlpError("tile", f"{axis} is {size}, wanted a multiple of {STEP}: pad it")
    if shape.experts > 1024:
        raise MoeMlpError("tile", f"E is {shape.experts}, at most 1024 experts on one device")
    if shape.top_k == 0 or shape.experts == 0:
        raise MoeMlpError("tile", f"E is {shape.experts} and K is {shape.top_k}: both start at 1")
