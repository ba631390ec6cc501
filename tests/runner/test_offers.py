"""Which candidates can run where, and what is said of those that cannot."""

from __future__ import annotations

import pytest

from kernelindex.errors import NotFoundError, RequestError
from kernelindex.runner.offers import available
from kernelindex.runner.operations.description import load_operation
from kernelindex.runner.planning import MOST_BYTES, Ask, choose_point

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


def test_an_operation_that_is_not_here_is_answered_with_those_that_have_candidates() -> None:
    with pytest.raises(NotFoundError) as refused:
        load_operation("nosuch")
    listed = refused.value.message.partition("there are: ")[2].split(", ")
    assert "rms-norm" in listed
    assert "study-scale" not in listed
    assert load_operation("study-scale").candidates == ()


def test_a_shape_that_no_machine_holds_is_refused_with_its_bytes() -> None:
    row = 4 * 2 * 64  # x and y in fp32; the weight is 256 bytes more
    most = (MOST_BYTES - 256) // row
    axes = {"tokens": most, "hidden": 64}
    assert choose_point(Ask(operation="rms-norm", axes=axes)).point.axes == axes
    with pytest.raises(RequestError, match=f"takes {(most + 1) * row + 256} bytes") as refused:
        choose_point(Ask(operation="rms-norm", axes={**axes, "tokens": most + 1}))
    assert refused.value.code == "plan.size"
