from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kernelindex.runner.channel import Refusal
from kernelindex.runner.operations import load_operation, make_case
from kernelindex.runner.operations.rms_norm import make_inputs_numpy, reference_numpy
from kernelindex.runner.operations.rms_norm.candidates import EPS, liger, numpy_rows
from kernelindex.sources.liger.equivalence import build_equivalence

if TYPE_CHECKING:
    from typing import Any

OPERATION = load_operation("rms-norm")
SHAPE = {"tokens": 48, "hidden": 192}
ON_CPU = {"pytorch/RMSNorm", "liger-benchmark/llama-rms-norm"}


def test_the_constant_of_the_candidates_is_the_operations() -> None:
    assert OPERATION.scalars == {"eps": EPS}


def test_lines_that_the_published_results_name_are_among_the_candidates() -> None:
    published = {line["id"] for line in build_equivalence()["lines"]}
    ours = {candidate.line_id for candidate in OPERATION.candidates}
    assert ours & published == ON_CPU | {"liger-kernel/LigerRMSNorm"}


def test_the_published_shapes_are_ligers() -> None:
    assert [one.axes["hidden"] for one in OPERATION.published] == [1 << n for n in range(10, 16)]
    assert {one.axes["tokens"] for one in OPERATION.published} == {2048}
    assert all(one.dtypes == {"x": "bf16", "weight": "fp32"} for one in OPERATION.published)


@pytest.mark.parametrize("draw", list(OPERATION.draws))
@pytest.mark.parametrize("dtype", list(OPERATION.tolerances))
def test_each_candidate_is_right_in_every_output_and_gradient(draw: str, dtype: str) -> None:
    pytest.importorskip("torch", reason="candidates in torch")
    from tests.runner.operations.judged import Drawn, function_of

    case = make_case(OPERATION, SHAPE, {"x": dtype, "weight": dtype}).for_draw(draw)
    drawn = Drawn(case)
    for identifier in sorted(ON_CPU):
        results = drawn.results(function_of(OPERATION.candidate(identifier)))
        assert drawn.judge(results) == dict.fromkeys(("y", "grad_x", "grad_weight"), "")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own parts warn of each other when Inductor loads
def test_what_torch_compile_makes_is_right() -> None:
    pytest.importorskip("torch", reason="candidates in torch")
    from tests.runner.operations.judged import Drawn, function_of

    drawn = Drawn(make_case(OPERATION, SHAPE, {"x": "bf16", "weight": "fp32"}))
    results = drawn.results(function_of(OPERATION.candidate("pytorch/compile/RMSNorm")))
    assert set(drawn.judge(results).values()) == {""}


@pytest.mark.parametrize("draw", list(OPERATION.draws))
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 5e-7), ("float16", 5e-4)])
def test_numpy_is_near_its_reference(draw: str, dtype: str, bound: float) -> None:
    ours = {"float32": "fp32", "float16": "fp16"}[dtype]
    case = make_case(OPERATION, SHAPE, {"x": ours, "weight": "fp32"}).for_draw(draw)
    inputs = make_inputs_numpy(case, draw, np.random.default_rng(4))
    got = numpy_rows(**inputs)
    want = reference_numpy({name: one.astype("float64") for name, one in inputs.items()}, case)["y"]
    assert (got.shape, got.dtype.name) == (case.shape("y"), dtype)
    assert inputs["weight"].dtype == np.float32
    assert np.linalg.norm(got - want) < bound * np.linalg.norm(want)
    assert np.square(want / inputs["weight"]).mean(-1) == pytest.approx(1, rel=1e-3)  # eps


def test_liger_that_is_missing_is_named(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "liger_kernel", None)
    with pytest.raises(Refusal, match="install liger-kernel to measure it") as refused:
        liger(None, None)
    assert (refused.value.status, refused.value.code) == ("unsupported", "package_missing")
