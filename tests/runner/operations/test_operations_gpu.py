"""Every candidate on a GPU, on every draw, judged in every output and gradient."""

from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch", reason="the operations' torch side needs torch")

from kernelindex.runner.channel import Refusal  # noqa: E402
from kernelindex.runner.judge.torch_backend import TorchBackend  # noqa: E402
from kernelindex.runner.operations import load_operation, make_case  # noqa: E402
from tests.runner.operations.judged import Drawn, drawn, function_of  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]

SHAPES = {
    "moe-mlp": {"tokens": 1024, "hidden": 2048, "intermediate": 768, "experts": 16, "k": 8},
    "gemm": {"m": 1000, "n": 768, "k": 1024},
    "swiglu": {"tokens": 512, "intermediate": 1024},
    "softmax": {"tokens": 512, "hidden": 1024},
    "cross-entropy": {"tokens": 512, "vocab": 8192},
}
RECORD = {"tokens": 8192, "hidden": 2048, "intermediate": 768, "experts": 64, "k": 8}
TUNES_FOR_MINUTES = {"sonic-moe/functional-autotuned"}
CANDIDATES = [
    (slug, candidate.id)
    for slug in SHAPES
    for candidate in load_operation(slug).candidates
    if "cuda" in candidate.devices and candidate.id not in TUNES_FOR_MINUTES
]


def wrong(case: Drawn, identifier: str) -> dict[str, str]:
    """What is wrong by output; of a candidate for inference only, outputs without gradients."""
    candidate = case.case.operation.candidate(identifier)
    function = function_of(candidate)
    if {"full", "backward"} & set(candidate.passes):
        results = case.results(function)
    else:
        with torch.no_grad():
            name = case.case.operation.outputs[0].name
            results = {name: function(**case.made.inputs)}
    return {name: text for name, text in case.judge(results).items() if text}


@pytest.mark.parametrize(("slug", "identifier"), CANDIDATES)
def test_a_candidate_is_right_on_every_draw(slug: str, identifier: str) -> None:
    operation = load_operation(slug)
    candidate = operation.candidate(identifier)
    found = {}
    for dtype in candidate.dtypes_on("cuda"):
        for draw in operation.draws:
            try:
                found[dtype, draw] = wrong(
                    drawn(slug, SHAPES[slug], dtype, draw, None, "cuda"), identifier
                )
            except Refusal as refusal:
                pytest.skip(str(refusal))
    assert {key: texts for key, texts in found.items() if texts} == {}


@pytest.mark.parametrize("distribution", ["skewed", "single_expert"])
def test_the_expert_mlp_is_right_where_experts_are_crowded(distribution: str) -> None:
    case = drawn("moe-mlp", SHAPES["moe-mlp"], "bf16", "own", distribution, "cuda")
    found = {}
    for slug, identifier in CANDIDATES:
        if slug == "moe-mlp":
            try:
                found[identifier] = wrong(case, identifier)
            except Refusal:
                continue
    assert {key: texts for key, texts in found.items() if texts} == {}


def test_the_reference_takes_under_two_seconds_at_the_workload_of_record() -> None:
    backend = TorchBackend("cuda")
    made = make_case("moe-mlp", RECORD, {"x": "bf16"})
    inputs = backend.make(made, 1, 2)
    backend.compute(made, inputs, gradients=True)  # cuBLAS and its workspaces are set up
    torch.cuda.synchronize()
    begun = time.perf_counter()
    found = backend.compute(made, inputs, gradients=True)
    torch.cuda.synchronize()
    spent = time.perf_counter() - begun
    print(f"reference in {found.precision}: {spent:.3f} s")
    assert spent < 2
