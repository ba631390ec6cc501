"""Work of a known size, so that the runner's verdicts can be held against the truth.

x [rows + extra, columns]   ->   y [rows, columns] = 2 x[:rows]

An honest candidate may touch the extra rows as well: then it moves (rows + extra) / rows as
many bytes in the same single kernel. No sleep, no second launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.drawing import draw_normal, draw_normal_numpy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import torch

    from kernelindex.runner.operations.case import Case


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """Normal rows."""
    return {"x": draw_normal(case, "x", generator, device)}


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The formula."""
    return {"y": 2 * inputs["x"][: case.axes["rows"]]}


def make_inputs_numpy(case: Case, draw: str, rng: np.random.Generator) -> dict[str, Any]:
    """As ``make_inputs``, of another sequence."""
    return {"x": draw_normal_numpy(case, "x", rng)}


def reference_numpy(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """As ``reference``, on numpy arrays."""
    return {"y": 2 * inputs["x"][: case.axes["rows"]]}
