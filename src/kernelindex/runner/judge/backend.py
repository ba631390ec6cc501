"""What the judge needs of a library of arrays: torch where there is one, else numpy."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kernelindex.runner.operations.case import Case

__all__ = ["Backend", "Made", "Reference", "pick_backend"]


@dataclass(frozen=True, slots=True)
class Made:
    """Inputs by name, and upstream gradients by output name (none without autograd)."""

    inputs: Mapping[str, Any]
    upstream: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """Outputs and ``grad_<input>`` by name, in ``precision`` (``fp64`` or ``fp32``)."""

    values: Mapping[str, Any]
    precision: str


class Backend(Protocol):
    """Making, computing and moving arrays."""

    name: str

    def make(self, case: Case, input_seed: int, upstream_seed: int) -> Made:
        """Inputs and upstream gradients of a case's draw."""
        ...

    def compute(self, case: Case, made: Made, *, gradients: bool) -> Reference:
        """The reference's outputs, and its gradients where they are asked for."""
        ...

    def run(
        self, function: Callable[..., Any], case: Case, made: Made, *, gradients: bool
    ) -> dict[str, Any]:
        """What a trusted implementation gives, by the same names, in its own dtypes."""
        ...

    def perturb(self, value: Any, seed: int) -> Any:
        """Another value of the same shape, dtype and range."""
        ...

    def write(self, path: Path, arrays: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        """Write arrays as a tensor file."""
        ...

    def read(self, path: Path, limit_bytes: int) -> dict[str, Any]:
        """Arrays of a tensor file that a candidate's process wrote. Raises ``TensorFileError``."""
        ...

    def free(self) -> None:
        """Give cached device memory back."""
        ...

    def facts(self) -> dict[str, Any]:
        """What computed: names and versions."""
        ...


def pick_backend(device: str) -> Backend:
    """Torch's on ``device`` (``cpu``, ``cuda:<n>``), or numpy's where torch is not installed."""
    if find_spec("torch") is not None:
        from kernelindex.runner.judge.torch_backend import TorchBackend

        return TorchBackend(device)
    from kernelindex.runner.judge.numpy_backend import NumpyBackend

    return NumpyBackend()
