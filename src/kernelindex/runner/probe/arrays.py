"""Outputs of a call as files for the judge: tensors by torch, arrays without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.channel import Refusal
from kernelindex.runner.operations.dtypes import dtype_name
from kernelindex.runner.tensor_file import _write, write_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_outputs(path: Path, values: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    """Write tensors or numpy arrays by name; refuses what is neither as ``incorrect_dtype``."""
    if all(hasattr(one, "untyped_storage") for one in values.values()):
        write_tensors(path, values, meta)
        return
    _write_arrays(path, values, meta)


def _write_arrays(path: Path, values: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    import numpy as np

    kinds, parts = {}, {}
    for name, value in values.items():
        if not isinstance(value, np.ndarray | np.generic):
            text = f"{name} is a {type(value).__name__}; wanted a numpy array"
            raise Refusal("incorrect_dtype", "output_type", text)
        array = np.ascontiguousarray(value)
        kinds[name] = (dtype_name(array.dtype), tuple(np.shape(value)))
        parts[name] = memoryview(array.tobytes())
    _write(path, kinds, parts, meta)
