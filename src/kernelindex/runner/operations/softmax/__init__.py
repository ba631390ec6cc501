"""Softmax over the last axis: generators and reference.

x [tokens, hidden]   ->   y [tokens, hidden]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.drawing import draw_normal, draw_normal_numpy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import torch

    from kernelindex.runner.operations.case import Case

STRESS_OFFSET = 96
"""Added to or taken from whole rows: exp overflows in fp32 too unless the maximum is taken off."""


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """Normal numbers; under ``stress`` whole rows are far from zero on either side."""
    import torch

    x = draw_normal(case, "x", generator, device)
    if draw == "stress":
        size = (x.shape[0], 1)
        offset = torch.randint(-1, 2, size, generator=generator, device=device) * STRESS_OFFSET
        x.add_(offset.to(x.dtype))
    return {"x": x}


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The formula, in the dtype of its inputs."""
    x = inputs["x"]
    powers = (x - x.amax(-1, keepdim=True).detach()).exp()
    return {"y": powers / powers.sum(-1, keepdim=True)}


def make_inputs_numpy(case: Case, draw: str, rng: np.random.Generator) -> dict[str, Any]:
    """As ``make_inputs``, of another sequence, for machines without torch."""
    x = draw_normal_numpy(case, "x", rng)
    if draw == "stress":
        offset = rng.integers(-1, 1, (x.shape[0], 1), endpoint=True) * STRESS_OFFSET
        x = x + offset.astype(x.dtype)
    return {"x": x}


def reference_numpy(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """As ``reference``, on numpy arrays."""
    import numpy as np

    x = inputs["x"]
    powers = np.exp(x - x.max(-1, keepdims=True))
    return {"y": powers / powers.sum(-1, keepdims=True)}
