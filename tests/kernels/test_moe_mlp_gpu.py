"""The expert MLP on a GPU: every gradient against fp32, repeated bits, graphs, compilation."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernelindex.kernels.moe_mlp import MoeExperts, MoeMlpError, moe_mlp, reference  # noqa: E402
from tests.kernels.moe_mlp_cases import (  # noqa: E402
    Case,
    Inputs,
    draw,
    relative_error,
    run,
    worst_slice_error,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]

HALF = torch.float16
CASES = (
    Case(1, 8, 2048, 768, 8),
    Case(7, 9, 2048, 768, 1),
    Case(513, 64, 2048, 768, 8),
    Case(513, 9, 2048, 768, 9),
    Case(64, 128, 2048, 768, 8),
    Case(250, 128, 2048, 768, 8),
    Case(1024, 16, 2048, 768, 8),
    Case(512, 16, 2048, 768, 4, "one"),
    Case(512, 16, 2048, 768, 1, "one"),
    Case(512, 16, 2048, 768, 4, "empty"),
    Case(4096, 64, 2048, 768, 8, "skewed"),
    Case(4096, 64, 2048, 768, 8, "outside"),
    Case(513, 64, 2048, 768, 8, "nobody"),
    Case(8192, 64, 2048, 768, 8),
    Case(2048, 32, 1024, 512, 4),
    Case(2048, 32, 1024, 512, 4, dtype=HALF),
    Case(700, 12, 256, 256, 4),
    Case(700, 12, 768, 384, 4),
    Case(700, 12, 320, 192, 4, dtype=HALF),
    Case(32768, 128, 2048, 768, 8),
)
RECORD = Case(8192, 64, 2048, 768, 8)


def gradient_for(inputs, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator("cuda").manual_seed(seed)
    x = inputs[0]
    return torch.randn(x.shape, generator=generator, device="cuda").to(x.dtype)


def exact(inputs, dy: torch.Tensor, compute: torch.dtype) -> list[torch.Tensor]:
    x, gate_up, down, index, w = (t.detach() for t in inputs)
    x, gate_up, down, w, dy = (t.to(compute) for t in (x, gate_up, down, w, dy))
    with torch.no_grad():
        out = reference.forward(x, gate_up, down, index, w, compute)
        return [out, *reference.backward(dy, x, gate_up, down, index, w, compute)]


@pytest.fixture(autouse=True)
def _exact_products():
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32 = before
    torch.cuda.empty_cache()


@pytest.fixture(autouse=True)
def _poisoned_buffers():
    """Every fresh buffer is NaN, so whatever is read unwritten shows.

    Filling `y` is a kernel between F1 and F2, which keeps them apart: see `side_by_side`.
    """
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_output_and_each_gradient_against_fp32(case: Case) -> None:
    inputs = draw(case, "cuda")
    dy = gradient_for(inputs)
    limit = 6e-3 if case.dtype == torch.bfloat16 else 1e-3
    got = run(moe_mlp, inputs, dy)
    wanted = exact(inputs, dy, torch.float32)
    for name, g, w in zip(("out", "x", "gate_up", "down", "weights"), got, wanted, strict=True):
        assert relative_error(g, w) <= limit, name
    for name, g, w in zip(("out", "x", "gate_up", "down"), got, wanted, strict=False):
        assert worst_slice_error(g, w) <= 2e-2, name


def test_output_and_each_gradient_against_fp64() -> None:
    inputs = draw(Case(300, 6, 512, 256, 3), "cuda")
    dy = gradient_for(inputs)
    for g, w in zip(run(moe_mlp, inputs, dy), exact(inputs, dy, torch.float64), strict=True):
        assert relative_error(g, w) <= 4e-3


@pytest.mark.parametrize("case", [RECORD, CASES[0], CASES[3], CASES[9]], ids=str)
def test_results_are_the_same_bits_from_run_to_run(case: Case) -> None:
    inputs = draw(case, "cuda")
    dy = gradient_for(inputs)
    first = run(moe_mlp, inputs, dy)
    for _ in range(3):
        for a, b in zip(first, run(moe_mlp, inputs, dy), strict=True):
            assert torch.equal(a, b)


def test_backward_twice_over_one_forward_gives_the_same_bits() -> None:
    inputs = draw(Case(1024, 16, 2048, 768, 8), "cuda")
    dy = gradient_for(inputs)
    out = moe_mlp(*inputs)
    leaves = (inputs[0], inputs[1], inputs[2], inputs[4])
    first = torch.autograd.grad(out, leaves, dy, retain_graph=True)
    for a, b in zip(first, torch.autograd.grad(out, leaves, dy), strict=True):
        assert torch.equal(a, b)


def test_strided_inputs_and_gradients_are_taken() -> None:
    inputs = draw(Case(512, 16, 2048, 768, 4), "cuda")
    dy = gradient_for(inputs)
    wanted = run(moe_mlp, inputs, dy)
    strided = dy.t().contiguous().t()
    assert not strided.is_contiguous()
    for a, b in zip(run(moe_mlp, inputs, strided), wanted, strict=True):
        assert torch.equal(a, b)


def test_int64_indices_and_fp32_weights_are_taken() -> None:
    x, gate_up, down, index, w = draw(Case(512, 16, 2048, 768, 4), "cuda")
    wide = w.detach().float().requires_grad_()
    out = moe_mlp(x, gate_up, down, index.long(), wide)
    assert torch.equal(out, moe_mlp(x, gate_up, down, index, w))
    out.sum().backward()
    assert wide.grad.dtype == torch.float32


@pytest.mark.parametrize(
    "case", [Case(16, 64, 2048, 768, 8), Case(2048, 16, 2048, 768, 8)], ids=str
)
def test_forward_and_backward_replay_from_a_graph(case: Case) -> None:
    inputs = draw(case, "cuda")
    dy = gradient_for(inputs)
    wanted = run(moe_mlp, inputs, dy)
    leaves = (inputs[0], inputs[1], inputs[2], inputs[4])
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.autograd.grad(moe_mlp(*inputs), leaves, dy)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = moe_mlp(*inputs)
        gradients = torch.autograd.grad(out, leaves, dy)
    graph.replay()
    torch.cuda.synchronize()
    for a, b in zip([out, *gradients], wanted, strict=True):
        assert torch.equal(a, b)


def side_by_side(case: Case, grad: bool = False) -> list[tuple[Inputs, torch.Tensor]]:
    """Two draws with the outputs that F2 gives after F1; from now on it starts in F1's tail.

    Buffers are filled no longer, so the draws take turns: what a call leaves in them is wrong for
    the next.
    """
    draws = [draw(case, "cuda", seed, grad) for seed in (0, 1)]
    pairs = [(inputs, moe_mlp(*inputs).detach()) for inputs in draws]
    torch.utils.deterministic.fill_uninitialized_memory = False
    return pairs


CHAINED = (
    RECORD,
    Case(1024, 16, 2048, 768, 8),
    Case(512, 16, 2048, 768, 4, "empty"),
    Case(700, 12, 256, 256, 4),
)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("case", CHAINED, ids=str)
def test_the_second_product_may_start_in_the_tail_of_the_first(case: Case, grad: bool) -> None:
    pairs = side_by_side(case, grad)
    for _ in range(25):
        for inputs, wanted in pairs:
            assert torch.equal(moe_mlp(*inputs), wanted)


def test_two_streams_at_once_do_not_hold_each_other_up() -> None:
    pairs = side_by_side(RECORD)
    streams = [torch.cuda.Stream() for _ in pairs]
    torch.cuda.synchronize()
    for _ in range(25):
        found = []
        for stream, (inputs, _) in zip(streams, pairs, strict=True):
            with torch.cuda.stream(stream):
                found.append(moe_mlp(*inputs))
        torch.cuda.synchronize()
        for out, (_, wanted) in zip(found, pairs, strict=True):
            assert torch.equal(out, wanted)


def test_a_graph_replays_the_products_side_by_side() -> None:
    pairs = side_by_side(RECORD)
    static = [t.clone() for t in pairs[0][0]]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = moe_mlp(*static)
    for _ in range(25):
        for inputs, wanted in pairs:
            for to, value in zip(static, inputs, strict=True):
                to.copy_(value)
            graph.replay()
            assert torch.equal(out, wanted)


def test_nothing_synchronises_with_the_host() -> None:
    inputs = draw(Case(512, 16, 2048, 768, 4), "cuda")
    dy = gradient_for(inputs)
    run(moe_mlp, inputs, dy)
    torch.cuda.set_sync_debug_mode("error")
    try:
        run(moe_mlp, inputs, dy)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_the_first_call_of_a_kind_compiles_before_it_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime = pytest.importorskip("triton.knobs").runtime
    ahead: list[bool] = []
    monkeypatch.setattr(
        runtime, "jit_post_compile_hook", lambda **one: ahead.append(one["is_manual_warmup"])
    )
    inputs = draw(Case(1024, 23, 512, 768, 5), "cuda")  # no other test has 23 experts
    run(moe_mlp, inputs, gradient_for(inputs))
    assert ahead == [True] * 10


def test_compiled_call_equals_the_eager_one() -> None:
    inputs = draw(Case(512, 16, 2048, 768, 4), "cuda")
    dy = gradient_for(inputs)
    compiled = torch.compile(moe_mlp, fullgraph=True)
    for a, b in zip(run(compiled, inputs, dy), run(moe_mlp, inputs, dy), strict=True):
        assert torch.equal(a, b)


def test_autocast_computes_in_its_type() -> None:
    inputs = draw(Case(512, 16, 2048, 768, 4, dtype=torch.float32), "cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = moe_mlp(*inputs)
    assert out.dtype == torch.bfloat16
    out.sum().backward()
    assert inputs[1].grad.dtype == torch.float32


def test_a_token_that_is_not_finite_spoils_only_what_it_reaches() -> None:
    inputs = list(draw(Case(512, 16, 2048, 768, 4), "cuda", grad=False))
    clean = moe_mlp(*inputs)
    inputs[0][17] = float("nan")
    out = moe_mlp(*inputs)
    others = torch.arange(512, device="cuda") != 17
    assert out[17].isnan().all()
    assert torch.equal(out[others], clean[others])


def test_inference_keeps_no_intermediate() -> None:
    inputs = draw(Case(2048, 16, 2048, 768, 8), "cuda", grad=False)
    moe_mlp(*inputs)
    before = torch.cuda.memory_allocated()
    out = moe_mlp(*inputs)
    assert torch.cuda.memory_allocated() - before == out.numel() * 2


def test_sizes_off_the_tiles_are_refused_in_words() -> None:
    inputs = draw(Case(8, 4, 96, 64, 2), "cuda")
    with pytest.raises(MoeMlpError, match="H is 96, wanted a multiple of 64"):
        moe_mlp(*inputs)


def test_module_stands_in_for_transformers() -> None:
    modeling = pytest.importorskip("transformers.models.qwen3_moe.modeling_qwen3_moe")
    config = pytest.importorskip("transformers.models.qwen3_moe.configuration_qwen3_moe")
    options = config.Qwen3MoeConfig(
        hidden_size=512, moe_intermediate_size=256, num_experts=8, num_experts_per_tok=2
    )
    options._experts_implementation = "eager"
    block = modeling.Qwen3MoeExperts(options).to("cuda", torch.bfloat16)
    torch.nn.init.normal_(block.gate_up_proj, std=0.02)
    torch.nn.init.normal_(block.down_proj, std=0.02)
    x, _, _, index, w = draw(Case(64, 8, 512, 256, 2), "cuda", grad=False)
    wanted = block(x, index.long(), w)
    assert (
        relative_error(MoeExperts.from_experts(block)(x, index.long(), w), wanted.detach()) < 1e-2
    )
