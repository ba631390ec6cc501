"""MoeExperts in the place of Transformers' own expert blocks, on the CPU."""

from __future__ import annotations

from importlib import import_module

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from kernelindex.kernels.moe_mlp import MoeExperts, replace_experts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

SIZES = {"hidden_size": 64, "num_experts_per_tok": 2}
BLOCKS = {
    "qwen3_moe": (
        "Qwen3MoeConfig",
        "Qwen3MoeExperts",
        {"moe_intermediate_size": 32, "num_experts": 8},
    ),
    "mixtral": (
        "MixtralConfig",
        "MixtralExperts",
        {"intermediate_size": 32, "num_local_experts": 8},
    ),
    "deepseek_v3": (
        "DeepseekV3Config",
        "DeepseekV3Experts",
        {"moe_intermediate_size": 32, "n_routed_experts": 8},
    ),
}


@pytest.fixture(autouse=True)
def _drawn() -> None:
    torch.manual_seed(3)


@pytest.mark.parametrize("family", list(BLOCKS))
def test_a_block_and_its_stand_in_agree(family: str) -> None:
    config_name, block_name, sizes = BLOCKS[family]
    home = f"transformers.models.{family}"
    config_type = getattr(import_module(f"{home}.configuration_{family}"), config_name)
    block_type = getattr(import_module(f"{home}.modeling_{family}"), block_name, None)
    if block_type is None:
        pytest.skip(f"this release of Transformers has no {block_name}")
    config = config_type(**SIZES, **sizes)
    config._experts_implementation = "eager"
    block = block_type(config)
    torch.nn.init.normal_(block.gate_up_proj, std=0.1)
    torch.nn.init.normal_(block.down_proj, std=0.1)
    x = torch.randn(10, 64)
    index = torch.randn(10, 8).topk(2).indices
    weights = torch.rand(10, 2)
    wanted = block(x, index, weights)
    stand_in = MoeExperts.from_experts(block)
    assert stand_in.state_dict().keys() == block.state_dict().keys()
    torch.testing.assert_close(stand_in(x, index, weights), wanted, rtol=1e-5, atol=1e-6)
    loaded = MoeExperts.from_experts(block_type(config))
    loaded.load_state_dict(block.state_dict(), strict=True)
    assert torch.equal(loaded(x, index, weights), stand_in(x, index, weights))


def test_a_model_gives_the_same_logits_with_its_experts_replaced() -> None:
    models = import_module("transformers")
    config = models.Qwen3MoeConfig(
        vocab_size=50,
        intermediate_size=64,
        moe_intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        num_experts=8,
        **SIZES,
    )
    config._experts_implementation = "eager"
    model = models.Qwen3MoeForCausalLM(config).eval()
    tokens = torch.arange(12).view(1, 12)
    with torch.no_grad():
        wanted = model(tokens).logits
        assert replace_experts(model) == 2
        torch.testing.assert_close(model(tokens).logits, wanted, rtol=1e-4, atol=1e-5)
