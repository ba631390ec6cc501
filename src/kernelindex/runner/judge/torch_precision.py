"""In which precision, and in how many rows at once, the reference is computed."""

from __future__ import annotations

import torch

from kernelindex.runner.operations.case import Case  # noqa: TC001

__all__ = ["choose_precision", "rows_at_once"]

# Compute capabilities with fp64 units at half the fp32 rate, or fp64 tensor cores.
FAST_FP64 = frozenset({(6, 0), (7, 0), (8, 0), (9, 0), (10, 0)})
# Elsewhere fp64 runs at 1/32 to 1/64 of fp32.
MANY_ELEMENTS = 1 << 24
MANY_ON_CPU = 1 << 28
# Inputs, outputs, their gradients and what autograd keeps: copies of the case's elements.
COPIES = 6
CPU_BYTES = 2 << 30


def choose_precision(case: Case, device: str) -> str:
    """``fp64``, or ``fp32`` where fp64 is too slow or does not fit."""
    elements = _elements(case)
    if not device.startswith("cuda"):
        return "fp64" if elements <= MANY_ON_CPU else "fp32"
    if torch.cuda.get_device_capability(device) not in FAST_FP64 and elements > MANY_ELEMENTS:
        return "fp32"
    fits = case.operation.rows is not None or elements * 8 * COPIES <= _free_bytes(device)
    return "fp64" if fits else "fp32"


def rows_at_once(case: Case, device: str) -> int | None:
    """How many rows fit in half of the memory that is free; None for all."""
    if case.operation.rows is None:
        return None
    budget = _free_bytes(device) // 2
    needed = _elements(case) * 8 * COPIES
    if needed <= budget:
        return None
    return max(1, case.axes[case.operation.rows.axis] * budget // needed)


def _elements(case: Case) -> int:
    operation = case.operation
    return sum(case.size(spec.name) for spec in (*operation.inputs, *operation.outputs))


def _free_bytes(device: str) -> int:
    if not device.startswith("cuda"):
        return CPU_BYTES
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + cached)
