"""How contents change between measurements without being sent again: they are rolled.

The worker draws an offset; probe and judge roll what was loaded by it, so both hold the same
numbers. Works on torch tensors and on numpy arrays, and imports neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.operations.case import Case

__all__ = ["is_training", "refreshed", "roll"]


def is_training(timed_pass: str) -> bool:
    """Whether a pass has gradients ahead, so that weights change between calls too."""
    return timed_pass != "inference"


def refreshed(
    case: Case,
    base: Mapping[str, Any],
    upstream: Mapping[str, Any],
    offset: int,
    *,
    training: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """All inputs and all upstream gradients as they are after a refresh by ``offset``.

    Inputs of one call roll alike, so what belongs to a row stays with it. Static ones roll in
    training only. Upstream gradients roll twice as far: pairs of row and gradient change, and
    with them a weight's gradient, which is a sum over such pairs.
    """
    inputs = {}
    for spec in case.operation.inputs:
        moves = training or spec.role == "per_call"
        inputs[spec.name] = roll(base[spec.name], offset if moves else 0)
    return inputs, {name: roll(value, 2 * offset) for name, value in upstream.items()}


def roll(value: Any, offset: int) -> Any:
    """``value`` rolled along its first axis, as ``numpy.roll`` does; a scalar stays as it is."""
    if len(value.shape) == 0 or value.shape[0] == 0 or offset % value.shape[0] == 0:
        return value
    if hasattr(value, "data_ptr"):
        return value.roll(offset % value.shape[0], 0)
    import numpy as np

    return np.roll(value, offset, axis=0)
