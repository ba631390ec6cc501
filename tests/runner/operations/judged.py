"""One draw of an operation, and what the judge finds of a function's results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="the operations' torch side needs torch")

from kernelindex.runner.judge.comparing import compare
from kernelindex.runner.judge.deciding import decide
from kernelindex.runner.judge.torch_backend import TorchBackend
from kernelindex.runner.operations import make_case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.judge.backend import Made
    from kernelindex.runner.operations import CandidateSpec, Case


class Drawn:
    """Inputs of a draw, the reference's values, and the errors of results against them."""

    def __init__(self, case: Case, device: str = "cpu", seed: int = 1) -> None:
        self.case, self.device = case, device
        self.backend = TorchBackend(device)
        self.made: Made = self.backend.make(case, seed, seed + 1)
        self.wanted = self.backend.compute(case, self.made, gradients=True)
        self.bounds = case.operation.tolerances_for(case.dtypes)

    def results(self, function: Callable[..., Any], interface: str = "torch") -> dict[str, Any]:
        """Outputs, and gradients of a torch function, in the function's own dtypes."""
        if interface == "torch":
            return self.backend.run(function, self.case, self.made, gradients=True)
        import torch

        result = function(**{name: one.numpy() for name, one in self.made.inputs.items()})
        return {self.case.operation.outputs[0].name: torch.from_numpy(result)}

    def judge(self, results: Mapping[str, Any]) -> dict[str, str]:
        """``""`` for each result that is right, else what is wrong with it."""
        trusted = self._trusted_errors()
        found = {}
        for name, value in results.items():
            wanted, bound = self.wanted.values[name], self.bounds[name]
            assert value.shape == wanted.shape
            assert value.dtype == self.backend_dtype(name)
            errors = compare(value, wanted, bound, self.case.spec(name).worst_of)
            judged = decide(name, self.case, errors, bound, trusted.get(name))
            found[name] = judged.text
        return found

    def backend_dtype(self, name: str) -> Any:
        from kernelindex.runner.operations.dtypes import torch_dtype

        return torch_dtype(self.case.dtype(name))

    def _trusted_errors(self) -> dict[str, float]:
        trusted = self.case.operation.candidate(self.case.operation.trusted[self.device])
        results = self.results(function_of(trusted))
        return {
            name: compare(
                value, self.wanted.values[name], self.bounds[name], self.case.spec(name).worst_of
            ).frobenius
            for name, value in results.items()
        }


def function_of(candidate: CandidateSpec) -> Callable[..., Any]:
    """The candidate's function."""
    module, _, name = candidate.entry.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def drawn(
    slug: str,
    axes: Mapping[str, int],
    dtype: str,
    draw: str = "own",
    distribution: str | None = None,
    device: str = "cpu",
) -> Drawn:
    """A draw of an operation whose first input has ``dtype``."""
    from kernelindex.runner.operations import load_operation

    first = load_operation(slug).inputs[0].name
    case = make_case(slug, axes, {first: dtype}, distribution=distribution)
    return Drawn(case.for_draw(draw), device)
