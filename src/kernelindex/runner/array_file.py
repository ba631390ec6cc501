"""Tensor files from and to numpy arrays, for machines without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelindex.runner.operations.dtypes import dtype_name, numpy_dtype
from kernelindex.runner.tensor_file import read_parts, write_parts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["read_arrays", "write_arrays"]


def write_arrays(
    path: Path, arrays: Mapping[str, Any], meta: Mapping[str, Any] | None = None
) -> None:
    """Write arrays under their names; replaces the file whole."""
    dense = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    kinds = {name: (dtype_name(array.dtype), array.shape) for name, array in dense.items()}
    parts = {name: array.reshape(-1).view(np.uint8).data for name, array in dense.items()}
    write_parts(path, kinds, parts, meta or {})


def read_arrays(path: Path, limit_bytes: int = 1 << 40) -> dict[str, Any]:
    """All arrays of a file. Raises ``TensorFileError``, also over ``limit_bytes``.

    Raises ``NotFoundError`` for a dtype that numpy does not have.
    """
    return {
        name: np.frombuffer(data, numpy_dtype(entry.dtype)).reshape(entry.shape)
        for name, entry, data in read_parts(path, limit_bytes)
    }
