"""SwiGLU activation y = silu(gate) * up: generators and reference.

gate_up [tokens, 2 * intermediate], gate columns first   ->   y [tokens, intermediate]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.drawing import draw_normal, draw_normal_numpy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import torch

    from kernelindex.runner.operations.case import Case

STRESS_OCTAVES = 2
"""Rows span 2^±2: enough to saturate sigmoids, and products stay normal numbers of fp16."""


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """Normal numbers; under ``stress`` the rows mix magnitudes."""
    import torch

    gate_up = draw_normal(case, "gate_up", generator, device)
    if draw == "stress":
        size = (gate_up.shape[0], 1)
        bounds = (-STRESS_OCTAVES, STRESS_OCTAVES + 1)
        octaves = torch.randint(*bounds, size, generator=generator, device=device)
        gate_up.mul_(torch.exp2(octaves.to(gate_up.dtype)))
    return {"gate_up": gate_up}


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The formula, in the dtype of its inputs."""
    gate, up = inputs["gate_up"].chunk(2, dim=-1)
    return {"y": gate * gate.sigmoid() * up}


def make_inputs_numpy(case: Case, draw: str, rng: np.random.Generator) -> dict[str, Any]:
    """As ``make_inputs``, of another sequence, for machines without torch."""
    gate_up = draw_normal_numpy(case, "gate_up", rng)
    if draw == "stress":
        size = (gate_up.shape[0], 1)
        octaves = rng.integers(-STRESS_OCTAVES, STRESS_OCTAVES, size, endpoint=True)
        gate_up = gate_up * (2.0**octaves).astype(gate_up.dtype)
    return {"gate_up": gate_up}


def reference_numpy(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """As ``reference``, on numpy arrays."""
    import numpy as np

    gate, up = np.split(inputs["gate_up"], 2, axis=-1)
    return {"y": gate / (1 + np.exp(-gate)) * up}
