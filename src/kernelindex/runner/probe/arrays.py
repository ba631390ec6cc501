"""Outputs of a call as a file for the judge: tensors by torch, arrays without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal
from kernelindex.runner.tensor_file import write_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_outputs(path: Path, values: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    """Write tensors or numpy arrays by name; refuses what is neither as ``incorrect_dtype``."""
    if all(hasattr(one, "untyped_storage") for one in values.values()):
        write_tensors(path, values, meta)
        return
    import numpy as np

    from kernelindex.runner.array_file import write_arrays

    for name, value in values.items():
        if not isinstance(value, np.ndarray | np.generic):
            text = f"{name} is a {type(value).__name__}; wanted a tensor or a numpy array"
            raise Refusal("incorrect_dtype", "output_type", text)
    write_arrays(path, values, meta)
