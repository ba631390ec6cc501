"""Draws and error measures shared by the expert MLP's tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Case:
    """One draw: T tokens, E experts, H hidden, I intermediate, K experts a token, routing."""

    tokens: int
    experts: int
    hidden: int
    inter: int
    top_k: int
    routing: str = "uniform"
    dtype: torch.dtype = torch.bfloat16

    def __str__(self) -> str:
        axes = f"T{self.tokens}-E{self.experts}-H{self.hidden}-I{self.inter}-K{self.top_k}"
        return f"{axes}-{self.routing}-{str(self.dtype).removeprefix('torch.')}"


Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def draw(case: Case, device: str = "cpu", seed: int = 0, grad: bool = True) -> Inputs:
    """x, gate_up_proj, down_proj, top_k_index (int32) and top_k_weights of a case."""
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape: int, scale: float = 1.0) -> torch.Tensor:
        values = torch.randn(*shape, generator=generator, device=device) * scale
        return values.to(case.dtype).requires_grad_(grad)

    x = normal(case.tokens, case.hidden)
    gate_up = normal(case.experts, 2 * case.inter, case.hidden, scale=case.hidden**-0.5)
    down = normal(case.experts, case.hidden, case.inter, scale=case.inter**-0.5)
    logits = torch.randn(case.tokens, case.experts, generator=generator, device=device)
    logits = logits + bias(case).to(device)
    index = logits.topk(case.top_k, dim=-1).indices
    weights = torch.softmax(logits.gather(1, index), dim=-1).to(case.dtype).requires_grad_(grad)
    return x, gate_up, down, lose(case, index).to(torch.int32), weights


def lose(case: Case, index: torch.Tensor) -> torch.Tensor:
    """The index with numbers of no expert in a third of the pairs, or in all of them."""
    if case.routing not in ("outside", "nobody"):
        return index
    pairs = torch.arange(index.numel(), device=index.device).view_as(index)
    lost = torch.tensor([-1, case.experts, 2**31 - 1], device=index.device)[pairs // 3 % 3]
    gone = torch.ones_like(pairs, dtype=torch.bool) if case.routing == "nobody" else pairs % 3 == 0
    return torch.where(gone, lost, index)


def bias(case: Case) -> torch.Tensor:
    """What a kind of routing adds to the experts' logits."""
    experts = torch.arange(case.experts, dtype=torch.float32)
    if case.routing == "one":  # the same K experts take every token
        return torch.where(experts < case.top_k, 100.0, 0.0)
    if case.routing == "empty":  # two experts without tokens
        return torch.where(experts < 2, -100.0, 0.0)
    if case.routing == "skewed":
        return -experts
    return torch.zeros(case.experts)


def relative_error(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """Frobenius norm of the difference over that of the reference; NaN counts as infinite."""
    difference = (got.detach().double() - wanted.double()).norm()
    value = (difference / wanted.double().norm().clamp_min(1e-30)).item()
    return float("inf") if math.isnan(value) else value


def worst_slice_error(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest relative error of one row or one expert; empty experts must be exactly zero."""
    errors = []
    for g, w in zip(got.detach().double(), wanted.double(), strict=True):
        norm = w.norm()
        errors.append(((g - w).norm() / norm if norm > 0 else g.norm() * 1e30).item())
    return max(errors, default=0.0)


def run(forward: torch.nn.Module | object, inputs: Inputs, dy: torch.Tensor) -> list[torch.Tensor]:
    """Output and the four gradients of one forward and backward."""
    leaves = [inputs[0], inputs[1], inputs[2], inputs[4]]
    for leaf in leaves:
        leaf.grad = None
    out = forward(*inputs)
    out.backward(dy)
    return [out.detach(), *(leaf.grad.detach().clone() for leaf in leaves)]
