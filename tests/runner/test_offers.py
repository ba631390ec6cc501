"""Which candidates can run where, and what is said of those that cannot."""

from __future__ import annotations

import pytest

from kernelindex.errors import RequestError
from kernelindex.runner.offers import available
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.planning import Ask, choose_point

CPU_BUILD = frozenset(("torch", "numpy"))
"""What a CPU build of torch brings: no triton."""


def offered(operation: str, device: str) -> dict[str, str | None]:
    found = available(load_operation(operation), device, CPU_BUILD)
    return {one.id: obstacle for one, obstacle in found}


def test_torch_compile_needs_triton_on_a_gpu_only() -> None:
    assert offered("rms-norm", "cpu")["pytorch/compile/RMSNorm"] is None
    needs = "needs triton, not installed here"
    assert offered("rms-norm", "cuda:0")["pytorch/compile/RMSNorm"] == needs
    assert offered("moe-mlp", "cpu")["kernelindex/moe_mlp"] == needs


def test_a_candidate_asked_for_by_name_that_cannot_run_is_refused_before_anything_runs() -> None:
    ask = Ask(
        operation="rms-norm",
        device="cpu",
        candidates=("numpy-rms-norm", "LigerRMSNorm"),
        packages=CPU_BUILD,
    )
    with pytest.raises(RequestError, match=r"LigerRMSNorm does not run on cpu; leave it out"):
        choose_point(ask)
    everything = choose_point(Ask(operation="rms-norm", device="cpu", packages=CPU_BUILD))
    assert ("liger-kernel/LigerRMSNorm", "does not run on cpu") in everything.left_out
