"""The judge's arithmetic in torch: generators, reference with autograd, trusted runs, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from kernelindex.runner.judge.backend import Made, Reference
from kernelindex.runner.judge.slicing import row_slices
from kernelindex.runner.judge.torch_precision import choose_precision, rows_at_once
from kernelindex.runner.operations import load_module
from kernelindex.runner.operations.dtypes import torch_dtype
from kernelindex.runner.tensor_file import read_tensors, write_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from kernelindex.runner.judge.slicing import Part
    from kernelindex.runner.operations.case import Case

__all__ = ["TorchBackend"]

Tensors = dict[str, Any]


class TorchBackend:
    """See ``Backend``; makes its tensors on the device, where the seed's sequence is its own."""

    name = "torch"

    def __init__(self, device: str) -> None:
        self._device = device
        # A reference in fp32 must be one: TF32 keeps 10 bits.
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False

    def make(self, case: Case, input_seed: int, upstream_seed: int) -> Made:
        """See ``Backend``; upstream gradients are normal unless the operation makes its own."""
        module = load_module(case.operation.slug)
        inputs = module.make_inputs(case, case.draw, self._generator(input_seed), self._device)
        generator = self._generator(upstream_seed)
        own = getattr(module, "make_upstream", None)
        if own is not None:
            return Made(inputs, own(case, case.draw, generator, self._device))
        names = [spec.name for spec in case.operation.outputs]
        return Made(inputs, {name: self._upstream(case, name, generator) for name in names})

    def compute(self, case: Case, made: Made, *, gradients: bool) -> Reference:
        """See ``Backend``; in slices of rows where the whole would not fit."""
        precision = choose_precision(case, self._device)
        dtype, module = torch_dtype(precision), load_module(case.operation.slug)
        rows = rows_at_once(case, self._device)
        found = []
        for part in row_slices(case, made, rows):
            wide = Made(_widened(part.made.inputs, dtype), _widened(part.made.upstream, dtype))
            found.append(_evaluate(module.reference, part, wide, gradients=gradients))
        return Reference(_joined(case, found), precision)

    def run(
        self, function: Callable[..., Any], case: Case, made: Made, *, gradients: bool
    ) -> Tensors:
        """See ``Backend``."""

        def call(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
            result = function(**inputs)
            results = result if isinstance(result, tuple) else (result,)
            return dict(zip([spec.name for spec in case.operation.outputs], results, strict=True))

        (part,) = row_slices(case, made, None)
        return _evaluate(call, part, made, gradients=gradients)

    def perturb(self, value: torch.Tensor, seed: int) -> torch.Tensor:
        """See ``Backend``; numbers get noise of half their size, whole numbers change places."""
        if value.is_floating_point():
            noise = torch.randn(value.shape, generator=self._generator(seed), device=self._device)
            wide = value.float()
            return (wide + noise * wide.square().mean().sqrt() / 2).to(value.dtype)
        rolled = value.roll(1)
        return rolled if not torch.equal(rolled, value) else value.max() - value

    def write(self, path: Path, arrays: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        """See ``Backend``."""
        write_tensors(path, arrays, meta)

    def read(self, path: Path, limit_bytes: int) -> Tensors:
        """See ``Backend``; on the CPU: comparing brings blocks of it to the device."""
        return read_tensors(path, "cpu", limit_bytes=limit_bytes)

    def free(self) -> None:
        """See ``Backend``."""
        if self._device.startswith("cuda"):
            torch.cuda.empty_cache()

    def facts(self) -> dict[str, Any]:
        """See ``Backend``."""
        return {"backend": "torch", "torch": torch.__version__, "device": self._device}

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(device=self._device).manual_seed(seed)

    def _upstream(self, case: Case, name: str, generator: torch.Generator) -> torch.Tensor:
        """Normal numbers; of a scalar, one in [0.5, 1.5), so that no gradient vanishes."""
        shape, dtype = case.shape(name), torch_dtype(case.dtype(name))
        if not shape:
            return (torch.rand((), generator=generator, device=self._device) + 0.5).to(dtype)
        return torch.randn(shape, generator=generator, device=self._device).to(dtype)


def _widened(tensors: Mapping[str, Any], dtype: torch.dtype) -> Tensors:
    """Floating tensors in ``dtype``; index tensors as they are."""
    return {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }


def _evaluate(
    function: Callable[[Mapping[str, Any], Case], Tensors],
    part: Part,
    made: Made,
    *,
    gradients: bool,
) -> Tensors:
    """Outputs of ``function`` and, where asked, ``grad_<input>`` through autograd."""
    wanted = [s.name for s in part.case.operation.inputs if s.differentiable] if gradients else []
    inputs = {name: tensor.detach() for name, tensor in made.inputs.items()}
    leaves = {name: inputs[name].requires_grad_() for name in wanted}
    with torch.set_grad_enabled(bool(wanted)):
        outputs = function(inputs, part.case)
    found = {name: tensor.detach() * part.weight(name) for name, tensor in outputs.items()}
    if not wanted:
        return found
    given = [made.upstream[name] * part.weight(name) for name in outputs]
    grads = torch.autograd.grad(
        list(outputs.values()), list(leaves.values()), given, allow_unused=True
    )
    for (name, leaf), grad in zip(leaves.items(), grads, strict=True):
        found[f"grad_{name}"] = torch.zeros_like(leaf) if grad is None else grad
    return found


def _joined(case: Case, parts: list[Tensors]) -> Tensors:
    if len(parts) == 1:
        return parts[0]
    return {name: _join(case, name, [part[name] for part in parts]) for name in parts[0]}


def _join(case: Case, name: str, parts: Iterable[torch.Tensor]) -> torch.Tensor:
    """Rows put together; what every slice adds to (weights' gradients, reduced outputs) summed."""
    tensors = list(parts)
    rule = case.operation.rows
    sliced = rule is not None and case.spec(name).shape[:1] == (rule.axis,)
    return torch.cat(tensors) if sliced else torch.stack(tensors).sum(0)
