"""The judge's arithmetic in numpy, for machines without torch: outputs only, no gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelindex.errors import RequestError
from kernelindex.runner.array_file import read_arrays, write_arrays
from kernelindex.runner.judge.backend import Made, Reference
from kernelindex.runner.operations import load_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kernelindex.runner.operations.case import Case

__all__ = ["NumpyBackend"]


class NumpyBackend:
    """See ``Backend``."""

    name = "numpy"

    def make(self, case: Case, input_seed: int, upstream_seed: int) -> Made:
        """See ``Backend``."""
        make = _function(case, "make_inputs_numpy")
        return Made(make(case, case.draw, np.random.default_rng(input_seed)), {})

    def compute(self, case: Case, made: Made, *, gradients: bool) -> Reference:
        """See ``Backend``; always fp64."""
        if gradients:
            raise RequestError("gradients need torch; install it, or ask for pass forward")
        wide = {name: _widened(array) for name, array in made.inputs.items()}
        return Reference(_function(case, "reference_numpy")(wide, case), "fp64")

    def run(
        self, function: Callable[..., Any], case: Case, made: Made, *, gradients: bool
    ) -> dict[str, Any]:
        """See ``Backend``."""
        result = function(**made.inputs)
        results = result if isinstance(result, tuple) else (result,)
        return dict(zip([spec.name for spec in case.operation.outputs], results, strict=True))

    def perturb(self, value: Any, seed: int) -> Any:
        """See ``Backend``."""
        if np.issubdtype(value.dtype, np.floating):
            noise = np.random.default_rng(seed).standard_normal(value.shape)
            return (value + noise * np.sqrt(np.mean(np.square(value))) / 2).astype(value.dtype)
        rolled = np.roll(value, 1)
        return rolled if not np.array_equal(rolled, value) else value.max() - value

    def write(self, path: Path, arrays: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        """See ``Backend``."""
        write_arrays(path, arrays, meta)

    def read(self, path: Path, limit_bytes: int) -> dict[str, Any]:
        """See ``Backend``."""
        return read_arrays(path, limit_bytes)

    def free(self) -> None:
        """See ``Backend``; there is nothing to give back."""

    def facts(self) -> dict[str, Any]:
        """See ``Backend``."""
        return {"backend": "numpy", "numpy": np.__version__, "device": "cpu"}


def _function(case: Case, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(load_module(case.operation.slug), name, None)
    if found is None:
        raise RequestError(
            f"{case.operation.slug} has no {name}, so it needs torch on this machine; install torch"
        )
    return found


def _widened(array: Any) -> Any:
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array
