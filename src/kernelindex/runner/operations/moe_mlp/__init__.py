"""The expert MLP of a mixture-of-experts layer: inputs drawn as Liger's script does, reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.runner.operations.dtypes import torch_dtype
from kernelindex.runner.operations.moe_mlp.routing import route

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from kernelindex.runner.operations.case import Case

WEIGHT_SCALE = 0.02
STRESS_BITS = 3


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """The five tensors in the order of Liger's script: x, both weights, scores.

    Normal values are drawn in the tensor's own dtype and weights scaled by 0.02 after rounding,
    as there. ``stress``: each hidden and each intermediate channel is scaled by a power of two in
    [1/8, 8], so that sums mix magnitudes and gates saturate.
    """
    import torch

    def normal(name: str) -> torch.Tensor:
        dtype = torch_dtype(case.dtype(name))
        return torch.randn(case.shape(name), dtype=dtype, generator=generator, device=device)

    x = normal("x")
    gate_up = normal("gate_up_proj").mul_(WEIGHT_SCALE)
    down = normal("down_proj").mul_(WEIGHT_SCALE)
    shape = (case.axes["tokens"], case.axes["experts"], case.axes["k"])
    index, weights = route(shape, case.distribution, case.parameters, generator, device)
    if draw == "stress":
        x.mul_(_powers(x.shape[-1], x, generator))
        down.mul_(_powers(down.shape[-1], down, generator))
    weights = weights.to(torch_dtype(case.dtype("top_k_weights")))
    return {
        "x": x,
        "gate_up_proj": gate_up,
        "down_proj": down,
        "top_k_index": index,
        "top_k_weights": weights,
    }


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """Give y [T, H] in the inputs' dtype, expert by expert over rows sorted once.

    Unbinding the weights makes their gradient one stacking of E parts; indexing them would add
    E zero-padded tensors of the full size.
    """
    import torch
    from torch.nn import functional as F

    x, weights = inputs["x"], inputs["top_k_weights"]
    tokens, top_k = inputs["top_k_index"].shape
    flat = inputs["top_k_index"].reshape(-1).long()
    slot = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=case.axes["experts"]).tolist()
    parts = []
    experts = zip(
        slot.split(counts),
        inputs["gate_up_proj"].unbind(0),
        inputs["down_proj"].unbind(0),
        strict=True,
    )
    for slots, gate_up, down in experts:
        gate, up = F.linear(x.index_select(0, slots // top_k), gate_up).chunk(2, dim=-1)
        parts.append(F.linear(F.silu(gate) * up, down))
    rows = torch.cat(parts) * weights.reshape(-1).index_select(0, slot)[:, None]
    inverse = torch.empty_like(slot)
    inverse[slot] = torch.arange(slot.numel(), device=slot.device)
    return {"y": rows.index_select(0, inverse).view(tokens, top_k, -1).sum(dim=1)}


def _powers(size: int, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    import torch

    bits = torch.randint(
        -STRESS_BITS, STRESS_BITS + 1, (size,), generator=generator, device=like.device
    )
    return torch.exp2(bits.float()).to(like.dtype)
