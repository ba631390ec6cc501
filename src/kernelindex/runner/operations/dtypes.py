"""The dtypes that the runner moves: their name, width, and names in torch and numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DTYPES", "DType", "dtype_name", "dtype_of", "numpy_dtype", "torch_dtype"]


@dataclass(frozen=True, slots=True)
class DType:
    """``epsilon`` is the distance from 1 to the next number, 0 for integers; ``numpy`` may lack."""

    name: str
    bytes: int
    torch: str
    numpy: str
    epsilon: float


DTYPES: Mapping[str, DType] = {
    made.name: made
    for made in (
        DType("fp64", 8, "float64", "float64", 2.0**-52),
        DType("fp32", 4, "float32", "float32", 2.0**-23),
        DType("fp16", 2, "float16", "float16", 2.0**-10),
        DType("bf16", 2, "bfloat16", "", 2.0**-7),
        DType("fp8_e4m3fn", 1, "float8_e4m3fn", "", 2.0**-3),
        DType("fp8_e5m2", 1, "float8_e5m2", "", 2.0**-2),
        DType("int64", 8, "int64", "int64", 0.0),
        DType("int32", 4, "int32", "int32", 0.0),
        DType("int16", 2, "int16", "int16", 0.0),
        DType("int8", 1, "int8", "int8", 0.0),
        DType("uint8", 1, "uint8", "uint8", 0.0),
        DType("bool", 1, "bool", "bool", 0.0),
    )
}


def dtype_of(name: str) -> DType:
    """The dtype called ``name``. Raises ``NotFoundError``."""
    if name not in DTYPES:
        raise NotFoundError(f"dtype {name!r} cannot be run; these can: {', '.join(DTYPES)}")
    return DTYPES[name]


def torch_dtype(name: str) -> Any:
    """Give torch's dtype of that name."""
    import torch

    return getattr(torch, dtype_of(name).torch)


def numpy_dtype(name: str) -> Any:
    """Give numpy's dtype of that name. Raises ``NotFoundError`` where it has none (bf16, fp8)."""
    import numpy as np

    if not (numpy_name := dtype_of(name).numpy):
        raise NotFoundError(f"numpy has no {name}; install torch, or use fp32, fp16 or fp64")
    return np.dtype(numpy_name)


def dtype_name(value: Any) -> str:
    """Our name of a torch or numpy dtype. Raises ``NotFoundError``."""
    text = str(value).removeprefix("torch.")
    for made in DTYPES.values():
        if text in {made.torch, made.numpy}:
            return made.name
    raise NotFoundError(f"dtype {text!r} is not one that the runner moves: {', '.join(DTYPES)}")
