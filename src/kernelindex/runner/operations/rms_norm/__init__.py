"""RMS normalisation of rows: generators and reference.

x [tokens, hidden]   weight [hidden]   ->   y [tokens, hidden], dtype as x
y = x / sqrt(mean(x^2, last) + eps) * weight
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.drawing import (
    draw_mixed,
    draw_normal,
    draw_normal_numpy,
    mixed_scale_numpy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import torch

    from kernelindex.runner.operations.case import Case


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """Rows of x, and a weight round 1 so that it matters."""
    draw_x = draw_mixed if draw == "stress" else draw_normal
    x = draw_x(case, "x", generator, device)
    weight = draw_normal(case, "weight", generator, device, scale=0.25).add_(1.0)
    return {"x": x, "weight": weight}


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The formula, in the dtype of its inputs."""
    x, weight = inputs["x"], inputs["weight"]
    mean_square = x.square().mean(-1, keepdim=True)
    return {"y": x * (mean_square + case.scalars["eps"]).rsqrt() * weight}


def make_inputs_numpy(case: Case, draw: str, rng: np.random.Generator) -> dict[str, Any]:
    """As ``make_inputs``, of another sequence, for machines without torch."""
    x = draw_normal_numpy(case, "x", rng)
    if draw == "stress":
        x = (x * mixed_scale_numpy(x.shape, rng)).astype(x.dtype)
    weight = 1 + draw_normal_numpy(case, "weight", rng) / 4
    return {"x": x, "weight": weight}


def reference_numpy(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """As ``reference``, on numpy arrays."""
    x, weight = inputs["x"], inputs["weight"]
    mean_square = (x * x).mean(-1, keepdims=True)
    return {"y": x / (mean_square + case.scalars["eps"]) ** 0.5 * weight}
