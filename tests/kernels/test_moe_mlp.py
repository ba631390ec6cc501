"""The expert MLP without a GPU: reference, checks, custom operator, module, and the interpreter."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernelindex.kernels import moe_mlp as package  # noqa: E402
from kernelindex.kernels.moe_mlp import MoeExperts, MoeMlpError, moe_mlp, reference, replace_experts  # noqa: E402
from kernelindex.kernels.moe_mlp.shape import Shape, read_shape  # noqa: E402
from tests.kernels.moe_mlp_cases import Case, draw, relative_error, run  # noqa: E402
from tests.support.shared import CHECKOUT  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

SMALL = Case(23, 5, 32, 16, 3, dtype=torch.float64)
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)


def by_hand(inputs) -> torch.Tensor:
    """The operation, token by token."""
    x, gate_up, down, index, w = inputs
    rows = []
    for t in range(x.shape[0]):
        y = torch.zeros_like(x[t])
        for k, e in enumerate(index[t].tolist()):
            gate, up = (gate_up[e] @ x[t]).chunk(2)
            y = y + w[t, k] * (down[e] @ (gate * torch.sigmoid(gate) * up))
        rows.append(y)
    return torch.stack(rows)


@pytest.mark.parametrize("routing", ["uniform", "one", "empty", "skewed"])
def test_reference_is_the_operation(routing: str) -> None:
    inputs = draw(Case(9, 5, 32, 16, 2, routing, torch.float64))
    assert relative_error(reference.forward(*inputs), by_hand(inputs)) < 1e-14


@pytest.mark.parametrize("routing", ["uniform", "one", "empty", "skewed"])
def test_gradients_by_formula_are_those_of_autograd(routing: str) -> None:
    inputs = draw(Case(23, 5, 32, 16, 3, routing, torch.float64))
    dy = torch.randn(inputs[0].shape, dtype=torch.float64)
    for got, wanted in zip(
        run(moe_mlp, inputs, dy), run(reference.forward, inputs, dy), strict=True
    ):
        assert relative_error(got, wanted) < 1e-13


def test_an_expert_without_tokens_has_zero_gradients() -> None:
    inputs = draw(Case(9, 5, 32, 16, 2, "empty", torch.float64))
    _, _, d_gate_up, d_down, _ = run(moe_mlp, inputs, torch.ones(9, 32, dtype=torch.float64))
    assert not d_gate_up[:2].any()
    assert not d_down[:2].any()
    assert d_down[2:].any()


def test_no_tokens_give_an_empty_output_and_zero_gradients() -> None:
    inputs = draw(Case(0, 5, 32, 16, 2, dtype=torch.float64))
    out, dx, d_gate_up, _, d_weights = run(moe_mlp, inputs, torch.zeros(0, 32, dtype=torch.float64))
    assert out.shape == dx.shape == (0, 32)
    assert not d_gate_up.any()
    assert d_weights.shape == (0, 2)


def test_lower_precisions_round_once() -> None:
    inputs = draw(Case(23, 5, 64, 64, 3, dtype=torch.bfloat16))
    wanted = reference.forward(*inputs, compute=torch.float64)
    assert moe_mlp(*inputs).dtype == torch.bfloat16
    assert relative_error(moe_mlp(*inputs), wanted) < 1e-3


def test_autocast_casts_every_floating_input() -> None:
    inputs = draw(Case(8, 4, 32, 16, 2, dtype=torch.float32))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = moe_mlp(*inputs)
    assert out.dtype == torch.bfloat16
    out.float().sum().backward()
    assert inputs[1].grad.dtype == torch.float32


def test_autocast_takes_weights_of_another_type() -> None:
    x, *others = draw(Case(8, 4, 32, 16, 2, dtype=torch.float32), grad=False)
    low = [t.bfloat16() if t.is_floating_point() else t for t in (x, *others)]
    with pytest.raises(MoeMlpError, match=r"gate_up_proj is torch\.float32, x is"):
        moe_mlp(low[0], *others)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(moe_mlp(low[0], *others), moe_mlp(*low))


@pytest.mark.parametrize("top_k", [1, 5])
def test_int64_indices_strided_tensors_and_equal_experts_of_a_token_are_taken(top_k: int) -> None:
    x, gate_up, down, index, w = draw(Case(9, 5, 32, 16, top_k, dtype=torch.float64), grad=False)
    index[3] = index[3, 0]  # one expert K times: its weights add up
    wanted = by_hand((x, gate_up, down, index, w))
    strided = [t.transpose(-1, -2).contiguous().transpose(-1, -2) for t in (x, gate_up, down, w)]
    assert not strided[0].is_contiguous()
    x, gate_up, down, w = strided
    wide = torch.stack([index.long(), index.long()], -1)[..., 0]
    assert relative_error(moe_mlp(x, gate_up, down, wide, w), wanted) < 1e-14


def test_nothing_is_kept_where_no_gradient_is_wanted() -> None:
    inputs = draw(SMALL)
    with torch.no_grad():
        assert moe_mlp(*inputs).grad_fn is None
    assert moe_mlp(*(t.detach() for t in inputs)).grad_fn is None
    assert moe_mlp(*inputs).grad_fn is not None


def test_a_forward_recomputed_under_checkpointing_gives_equal_gradients() -> None:
    from torch.utils.checkpoint import checkpoint

    inputs = draw(SMALL)
    dy = torch.randn(inputs[0].shape, dtype=torch.float64)
    twice = run(lambda *args: checkpoint(moe_mlp, *args, use_reentrant=False), inputs, dy)
    for got, wanted in zip(twice, run(moe_mlp, inputs, dy), strict=True):
        assert torch.equal(got, wanted)


@pytest.mark.slow
def test_operator_passes_pytorchs_own_checks() -> None:
    from kernelindex.kernels.moe_mlp.custom_op import moe_mlp_op

    torch.library.opcheck(moe_mlp_op, (*draw(SMALL), True))


@pytest.mark.slow
def test_compiled_call_is_one_graph_with_equal_results() -> None:
    inputs = draw(SMALL)
    dy = torch.randn(inputs[0].shape, dtype=torch.float64)
    compiled = torch.compile(moe_mlp, fullgraph=True, backend="aot_eager")
    for got, wanted in zip(run(compiled, inputs, dy), run(moe_mlp, inputs, dy), strict=True):
        assert torch.equal(got, wanted)


def wrong_inputs() -> list[tuple[str, str, str, object]]:
    """Name of the input to change, code, words the message must hold, the new value."""
    return [
        ("x", "rank", "x has 3 axes, wanted 2", torch.zeros(1, 23, 32, dtype=torch.float64)),
        ("gate_up_proj", "axes", "wanted (5, 32, 32)", torch.zeros(5, 30, 32, dtype=torch.float64)),
        ("down_proj", "dtype", "down_proj is torch.float32", torch.zeros(5, 32, 16)),
        ("top_k_index", "dtype", "wanted int32 or int64", torch.zeros(23, 3)),
        ("top_k_index", "axes", "wanted (23, 3)", torch.zeros(22, 3, dtype=torch.int32)),
        ("top_k_weights", "dtype", "wanted a float type", torch.zeros(23, 3, dtype=torch.int32)),
        ("top_k_weights", "axes", "wanted (23, 3)", torch.zeros(23, 2, dtype=torch.float64)),
        ("top_k_weights", "rank", "has 1 axes, wanted 2", torch.zeros(23, dtype=torch.float64)),
        (
            "down_proj",
            "device",
            "down_proj is on meta, x on cpu",
            torch.zeros(5, 32, 16, device="meta"),
        ),
    ]


@pytest.mark.parametrize(("name", "code", "words", "value"), wrong_inputs())
def test_wrong_inputs_are_refused_in_words(name: str, code: str, words: str, value: object) -> None:
    names = ("x", "gate_up_proj", "down_proj", "top_k_index", "top_k_weights")
    inputs = dict(zip(names, draw(SMALL), strict=True)) | {name: value}
    if name == "top_k_index" and code == "axes":
        inputs["top_k_weights"] = torch.zeros(23, 3, dtype=torch.float64)
    with pytest.raises(MoeMlpError) as caught:
        moe_mlp(**inputs)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_wrong_inputs_are_refused_without_tokens_too() -> None:
    x, gate_up, down, index, w = draw(Case(0, 5, 32, 16, 2, dtype=torch.float64))
    with pytest.raises(MoeMlpError, match=r"top_k_weights is \(0, 3\), wanted \(0, 2\)"):
        moe_mlp(x, gate_up, down, index, w.new_zeros(0, 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ((8, 4, 96, 64, 2), "H is 96, wanted a multiple of 64"),
        ((8, 4, 64, 0, 2), "I is 0, wanted a multiple of 64"),
        ((8, 1025, 64, 64, 2), "E is 1025, at most 1024"),
        ((8, 4, 64, 64, 0), "K is 0"),
    ],
)
def test_sizes_that_no_kernel_takes_are_refused_on_a_gpu(axes: tuple[int, ...], words: str) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    t, e, h, i, k = axes
    with FakeTensorMode(), torch.device("cuda"):  # no GPU is needed: nothing holds memory
        x, gate_up, down = torch.empty(t, h), torch.empty(e, 2 * i, h), torch.empty(e, h, i)
        index, w = torch.empty(t, k, dtype=torch.int32), torch.empty(t, k)
        with pytest.raises(MoeMlpError, match=words) as caught:
            read_shape(x.half(), gate_up.half(), down.half(), index, w)
    assert caught.value.code == "tile"


def test_integer_tensors_are_no_input() -> None:
    inputs = list(draw(SMALL))
    inputs[0] = torch.zeros(23, 32, dtype=torch.int8)
    with pytest.raises(MoeMlpError, match="x is int8"):
        moe_mlp(*inputs)


def test_cost_of_the_workload_of_record() -> None:
    shape = Shape(tokens=8192, hidden=2048, inter=768, experts=64, top_k=8)
    assert shape.forward_flops() == 618_475_290_624
    assert shape.backward_flops() == 1_236_950_581_248
    assert shape.forward_bytes() == 671_481_856
    assert shape.backward_bytes() > 2 * shape.forward_bytes() * 0.9


def test_module_computes_the_operation_on_its_parameters() -> None:
    inputs = draw(Case(12, 4, 32, 16, 2, dtype=torch.float32))
    module = MoeExperts(4, 32, 16)
    module.load_state_dict({"gate_up_proj": inputs[1], "down_proj": inputs[2]})
    x = inputs[0].view(3, 4, 32)
    out = module(x, inputs[3], inputs[4])
    assert out.shape == x.shape
    assert torch.equal(out.view(12, 32), moe_mlp(*inputs))


class Block(torch.nn.Module):
    """An expert block as Transformers writes them."""

    def __init__(self, gate_rows: int = 32, activation: object = torch.nn.functional.silu) -> None:
        super().__init__()
        self.gate_up_proj = torch.nn.Parameter(torch.randn(4, gate_rows, 32))
        self.down_proj = torch.nn.Parameter(torch.randn(4, 32, 16))
        self.act_fn = activation


def test_replacing_experts_takes_their_parameters_over() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ModuleDict({"experts": Block()}))
    weight = model[1]["experts"].gate_up_proj
    assert replace_experts(model) == 1
    assert isinstance(model[1]["experts"], MoeExperts)
    assert model[1]["experts"].gate_up_proj is weight
    assert replace_experts(model) == 0


def test_a_saved_block_loads_into_its_stand_in_and_back() -> None:
    block = Block()
    module = MoeExperts.from_experts(Block())
    assert module.load_state_dict(block.state_dict(), strict=True).missing_keys == []
    again = Block()
    again.load_state_dict(module.state_dict(), strict=True)
    for name, value in block.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)


def test_biases_are_refused() -> None:
    block = Block()
    block.gate_up_proj_bias = torch.nn.Parameter(torch.zeros(4, 32))
    with pytest.raises(MoeMlpError, match="Block has biases"):
        MoeExperts.from_experts(block)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (Block(gate_rows=30), "wanted (4, 32, 32)"),
        (Block(activation=torch.nn.functional.gelu), "does not use SiLU"),
        (torch.nn.Linear(2, 2), "holds no gate_up_proj"),
    ],
)
def test_blocks_that_compute_something_else_are_refused(block: torch.nn.Module, words: str) -> None:
    with pytest.raises(MoeMlpError) as caught:
        MoeExperts.from_experts(block)
    assert words in str(caught.value)


def test_exported_names_are_exact() -> None:
    assert package.__all__ == ["MoeExperts", "MoeMlpError", "moe_mlp", "replace_experts"]
    with pytest.raises(AttributeError, match="no attribute 'anything'"):
        package.anything  # noqa: B018


@pytest.fixture(scope="module")
def interpreted() -> dict[str, dict]:
    """What the portable kernels and the routing computed in Triton's interpreter."""
    script = Path(__file__).with_name("interpreted_moe_mlp.py")
    paths = os.pathsep.join([str(CHECKOUT / "src"), str(CHECKOUT)])
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@needs_triton
@pytest.mark.slow
def test_portable_kernels_agree_with_fp64(interpreted: dict[str, dict]) -> None:
    assert len(interpreted["kernels"]) == 9
    for case, errors in interpreted["kernels"].items():
        assert len(errors) == 5, case
        assert max(errors) < 6e-4, case


@needs_triton
@pytest.mark.slow
def test_routing_places_every_pair_once_and_fills_half_slots(interpreted: dict[str, dict]) -> None:
    one_block = 0
    for case, found in interpreted["routing"].items():
        assert found.pop("units") in (0, 1), case
        assert found.pop("doubles") >= 0
        one_block += found.pop("one_block")
        assert all(found.values()), (case, found)
    assert len(interpreted["routing"]) == 10
    assert one_block == 3  # the others took two kernels
