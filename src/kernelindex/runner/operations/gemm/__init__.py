"""Matrix multiplication c = a @ b^T: generators and reference.

a [m, k]   b [n, k]   ->   c [m, n]
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

STRESS_SCALE = 1 / 8
"""Keeps sums over m of mixed rows inside fp16's range up to m = 8192."""


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """Normal numbers; under ``stress`` the rows of a mix magnitudes."""
    if draw == "stress":
        a = draw_mixed(case, "a", generator, device, scale=STRESS_SCALE)
    else:
        a = draw_normal(case, "a", generator, device)
    return {"a": a, "b": draw_normal(case, "b", generator, device)}


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The formula, in the dtype of its inputs."""
    return {"c": inputs["a"] @ inputs["b"].T}


def make_inputs_numpy(case: Case, draw: str, rng: np.random.Generator) -> dict[str, Any]:
    """As ``make_inputs``, of another sequence, for machines without torch."""
    a = draw_normal_numpy(case, "a", rng)
    if draw == "stress":
        a = (a * mixed_scale_numpy(a.shape, rng) * STRESS_SCALE).astype(a.dtype)
    return {"a": a, "b": draw_normal_numpy(case, "b", rng)}


def reference_numpy(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """As ``reference``, on numpy arrays."""
    return {"c": inputs["a"] @ inputs["b"].T}
