"""Routing of the expert MLP, and that what is wrong in one expert or weight is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kernelindex.errors import RequestError
from tests.runner.operations.judged import Drawn, drawn, function_of

if TYPE_CHECKING:
    from collections.abc import Mapping

torch = pytest.importorskip("torch", reason="the operations' torch side needs torch")

from kernelindex.runner.operations import load_operation, make_case  # noqa: E402
from kernelindex.runner.operations.moe_mlp import make_inputs  # noqa: E402
from kernelindex.runner.operations.moe_mlp.expert_loops import cublas_loop  # noqa: E402
from kernelindex.runner.operations.moe_mlp.routing import route  # noqa: E402

AXES = {"tokens": 24, "hidden": 64, "intermediate": 64, "experts": 8, "k": 3}
WIDE = (4096, 16, 4)


def routed(
    distribution: str, parameters: Mapping[str, Any] | None = None, shape: Any = WIDE
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Experts, weights, and how often each expert is chosen."""
    generator = torch.Generator().manual_seed(11)
    index, weights = route(shape, distribution, parameters or {}, generator, "cpu")
    return index, weights, torch.bincount(index.flatten().long(), minlength=shape[1])


def test_values_come_in_the_order_of_ligers_script() -> None:
    case = make_case("moe-mlp", AXES, {"x": "bf16"}, distribution="uniform")
    made = make_inputs(case, "own", torch.Generator().manual_seed(42), "cpu")
    torch.manual_seed(42)
    like = {"dtype": torch.bfloat16}
    assert torch.equal(made["x"], torch.randn(24, 64, **like))
    assert torch.equal(made["gate_up_proj"], torch.randn(8, 128, 64, **like) * 0.02)
    assert torch.equal(made["down_proj"], torch.randn(8, 64, 64, **like) * 0.02)
    logits = torch.randn(24, 8)
    index = torch.topk(logits, 3, dim=-1).indices.to(torch.int32)
    kept = torch.softmax(torch.gather(logits, 1, index.long()), dim=-1)
    assert torch.equal(made["top_k_index"], index)
    assert torch.equal(made["top_k_weights"], kept.bfloat16())


@pytest.mark.parametrize("distribution", ["uniform", "skewed", "single_expert"])
@pytest.mark.parametrize("parameters", [{}, {"emptyShare": 0.25}, {"overfullShare": 0.5}])
def test_a_tokens_experts_differ_and_its_weights_go_down_to_a_sum_of_one(
    distribution: str, parameters: dict[str, float]
) -> None:
    index, weights, _ = routed(distribution, parameters)
    assert index.dtype == torch.int32
    assert all(len(set(row)) == 4 for row in index.tolist())
    assert bool((weights[:, 1:] <= weights[:, :-1]).all())
    torch.testing.assert_close(weights.sum(1), torch.ones(4096))


def test_uniform_routing_gives_each_expert_its_share() -> None:
    counts = routed("uniform")[2]
    assert counts.sum() == 4096 * 4
    assert bool((abs(counts - 1024) < 150).all())


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_skewed_routing_follows_zipf(exponent: float) -> None:
    index, _, counts = routed("skewed", {"exponent": exponent}, (40000, 16, 1))
    weights = torch.arange(1, 17).double() ** -exponent
    torch.testing.assert_close(counts / 40000, (weights / weights.sum()).float(), atol=0.01, rtol=0)
    assert index.shape == (40000, 1)


@pytest.mark.parametrize("top_k", [1, 4])
def test_single_expert_sends_every_token_to_the_same_experts(top_k: int) -> None:
    counts = routed("single_expert", shape=(512, 16, top_k))[2]
    assert sorted(counts.tolist()) == [0] * (16 - top_k) + [512] * top_k


def test_an_empty_share_of_experts_gets_nothing_and_no_more() -> None:
    assert int((routed("uniform", {"emptyShare": 0.25})[2] == 0).sum()) == 4
    assert int((routed("uniform", {"emptyShare": 0.01})[2] == 0).sum()) == 1
    assert int((routed("uniform", {"emptyShare": 0.9}, (64, 4, 3))[2] == 0).sum()) == 1
    assert int((routed("uniform", {"emptyShare": 0.5}, (64, 4, 4))[2] == 0).sum()) == 0


@pytest.mark.parametrize(("experts", "share"), [(8, 0.25), (4, 0.25), (2, 0.5), (8, 0.75)])
def test_some_expert_with_tokens_always_follows_an_empty_one(experts: int, share: float) -> None:
    for seed in range(200):
        generator = torch.Generator().manual_seed(seed)
        shape = (256, experts, 1)
        index, _ = route(shape, "uniform", {"emptyShare": share}, generator, "cpu")
        present, dense = torch.unique(index, return_inverse=True)
        assert len(present) == experts - round(share * experts)
        assert not torch.equal(dense, index.long()), f"seed {seed}: a shift would not be seen"


def test_an_overfull_share_of_tokens_goes_to_the_same_experts() -> None:
    index, _, counts = routed("uniform", {"overfullShare": 0.5})
    first = {tuple(sorted(row)) for row in index[:2048].tolist()}
    assert len(first) == 1
    assert counts.max() > 2048
    assert len({tuple(sorted(row)) for row in index[2048:].tolist()}) > 500


def test_an_unknown_distribution_is_refused() -> None:
    with pytest.raises(RequestError, match="no distribution 'zipf'; it has: uniform, skewed, sing"):
        routed("zipf")


@pytest.mark.slow
@pytest.mark.parametrize("distribution", load_operation("moe-mlp").distributions)
@pytest.mark.parametrize("axes", [{"tokens": 1}, {"k": 8}, {"experts": 9, "k": 1}])
def test_candidates_are_right_under_every_distribution(
    distribution: str, axes: dict[str, int]
) -> None:
    case = drawn("moe-mlp", AXES | axes, "fp32", "own", distribution)
    for identifier in ("cublas-expert-loop", "moe_mlp", "numpy-moe-mlp"):
        candidate = case.case.operation.candidate(f"kernelindex/{identifier}")
        found = case.judge(case.results(function_of(candidate), candidate.interface))
        assert set(found.values()) == {""}, identifier
    loop = case.case.operation.candidate("liger-benchmark/moe-expert-loop")
    assert set(case.judge(case.results(function_of(loop))).values()) == {""}


def test_two_backwards_of_one_graph_give_the_same_bits() -> None:
    inputs = drawn("moe-mlp", AXES, "bf16").made.inputs
    operation = load_operation("moe-mlp")
    for name in ("cublas-expert-loop", "torch-grouped-mm-own-backward", "moe_mlp"):
        function = function_of(operation.candidate(f"kernelindex/{name}"))
        leaves = {n: t.clone().requires_grad_() for n, t in inputs.items() if t.is_floating_point()}
        y = function(**{**inputs, **leaves})
        dy = torch.ones_like(y)
        first, second = (
            torch.autograd.grad(y, list(leaves.values()), dy, retain_graph=True) for _ in range(2)
        )
        assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True)), name


def spoiled(case: Drawn, name: str) -> dict[str, Any]:
    results = case.results(cublas_loop)
    assert set(case.judge(results).values()) == {""}
    return results | {name: results[name].clone()}


def test_a_gradient_wrong_in_one_expert_is_found() -> None:
    case = drawn("moe-mlp", AXES | {"experts": 64}, "bf16")
    results = spoiled(case, "grad_down_proj")
    results["grad_down_proj"][5] *= 1.04
    found = case.judge(results)
    assert "error of expert or slice 5 is 0.04" in found.pop("grad_down_proj")
    assert set(found.values()) == {""}


def test_the_gradient_of_an_expert_without_tokens_must_be_zero() -> None:
    case = drawn("moe-mlp", AXES, "bf16", "empty")
    used = set(case.made.inputs["top_k_index"].flatten().tolist())
    idle = next(e for e in range(8) if e not in used)
    results = spoiled(case, "grad_gate_up_proj")
    results["grad_gate_up_proj"][idle, 0, 0] = 0.02
    assert f"slice {idle} is" in case.judge(results)["grad_gate_up_proj"]


def test_a_router_gradient_that_is_left_out_is_found() -> None:
    case = drawn("moe-mlp", AXES, "bf16")
    results = spoiled(case, "grad_top_k_weights")
    results["grad_top_k_weights"].zero_()
    found = case.judge(results)
    assert found["grad_top_k_weights"].startswith(
        "grad_top_k_weights: relative Frobenius error is 1"
    )
