from __future__ import annotations

import pytest

from kernelindex.sources.liger.matching import Matched, Refused, match_row
from tests.sources.liger.factories import MOE_CONFIG, RMS_CONFIG, make_row, moe_row


def matched(row: dict[str, str]) -> Matched:
    found = match_row(row)
    assert isinstance(found, Matched), found
    return found


def refused(row: dict[str, str]) -> Refused:
    found = match_row(row)
    assert isinstance(found, Refused), found
    return found


def test_null_in_the_config_is_the_swept_axis() -> None:
    row = matched(moe_row(x_value="128"))
    assert row.axes == {
        "tokens": 128,
        "hidden": 2048,
        "intermediate": 768,
        "experts": 128,
        "k": 8,
    }
    assert set(row.dtypes.values()) == {"bf16", "int32"}


def test_the_other_sweep_of_the_same_point_is_the_same_case() -> None:
    config = {"sweep_dim": "E", "T": 8192, "E": None}
    by_experts = matched(moe_row(config=config, x_name="E", x_value="128"))
    assert by_experts.axes == matched(moe_row()).axes
    assert by_experts.dtypes == matched(moe_row()).dtypes


def test_null_for_an_axis_that_is_not_swept_is_refused() -> None:
    assert refused(moe_row(config={"E": None})).reason == "config_unknown"


def test_a_repeated_sweep_default_does_not_override_the_swept_value() -> None:
    config = {
        "hidden_size": 4096,
        "bsz": 1,
        "seq_len": 8192,
        "dtype": "torch.bfloat16",
        "eps": 1e-6,
    }
    row = matched(
        make_row(
            config=config,
            kernel_name="layer_norm",
            kernel_provider="liger_cutile",
            x_name="T",
            x_value="1024",
        )
    )
    assert row.axes == {"tokens": 1024, "hidden": 4096}


def test_a_label_is_never_a_key() -> None:
    assert matched(make_row(x_label="anything")).axes == matched(make_row()).axes


def test_weights_that_the_script_leaves_in_float32_say_so() -> None:
    assert matched(make_row()).dtypes == {"x": "bf16", "weight": "fp32"}


def test_booleans_become_axes_only_where_the_table_says_so() -> None:
    config = {
        "hidden_size": 4096,
        "bsz": 1,
        "seq_len": 8192,
        "dtype": "torch.bfloat16",
        "beta": True,
    }
    dyt = {"kernel_name": "dyt", "kernel_provider": "torch", "x_name": "BT", "x_value": "2048"}
    assert matched(make_row(config=config, **dyt)).axes["with_beta"] == 1
    assert matched(make_row(config={**config, "beta": False}, **dyt)).axes["with_beta"] == 0
    assert refused(make_row(config={**config, "beta": 1}, **dyt)).reason == "config_unknown"


def test_a_bound_dtype_is_said_with_where_it_rests() -> None:
    row = matched(
        make_row(
            config={"B": 8, "T": 2048},
            kernel_name="cross_entropy",
            x_name="V",
            liger_version="0.2.1",
        )
    )
    assert row.dtypes == {"logits": "fp32", "target": "int64"}
    (fact,) = row.bound
    assert fact.startswith("dtype: fp32 (benchmark/scripts/benchmark_cross_entropy.py:")
    assert "da1e92d89d0d8f397ef2f17e155cbbe5e7cac86d" in fact


def test_an_unstated_dtype_of_a_release_nobody_reviewed_is_unknown() -> None:
    row = make_row(
        config={"B": 8, "T": 2048}, kernel_name="cross_entropy", x_name="V", liger_version="0.9.9"
    )
    assert refused(row).reason == "dtype_unknown"


@pytest.mark.parametrize("dtype", ["torch.float99", "fp8", ""])
def test_a_dtype_without_a_meaning_is_unknown(dtype: str) -> None:
    assert refused(make_row(config={**RMS_CONFIG, "dtype": dtype})).reason == "dtype_unknown"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kernel_name": "flash_attention"}, "kernel_unknown"),
        ({"x_name": "model_config", "x_value": "LLAMA_3_8B"}, "model_config_row"),
        ({"x_value": "many"}, "bad_number"),
        ({"x_value": "9" * 15}, "config_unknown"),
        ({"x_name": "Q"}, "config_unknown"),
        ({"kernel_provider": "quack"}, "provider_unknown"),
        ({"kernel_operation_mode": "sideways"}, "mode_unknown"),
        ({"kernel_operation_mode": ""}, "mode_unknown"),
        ({"extra_benchmark_config_str": ""}, "config_unknown"),
        ({"extra_benchmark_config_str": "[1]"}, "config_unknown"),
        ({"extra_benchmark_config_str": '{"M": 1, "M": 2}'}, "config_unknown"),
        ({"extra_benchmark_config_str": "[" * 10_000}, "config_unknown"),
    ],
)
def test_every_refusal_has_its_reason(changes: dict[str, str], reason: str) -> None:
    assert refused({**make_row(), **changes}).reason == reason


@pytest.mark.parametrize(
    "config",
    [
        {**RMS_CONFIG, "offset": 1.0},
        {"M": 2048, "dtype": "torch.bfloat16"},
        {**RMS_CONFIG, "M": "2048"},
        {**RMS_CONFIG, "M": 2048.5},
        {**RMS_CONFIG, "M": True},
        {**RMS_CONFIG, "M": -4},
        {**RMS_CONFIG, "M": 0},
        {**RMS_CONFIG, "M": 2**60},
        {**RMS_CONFIG, "eps": "small"},
    ],
)
def test_a_config_that_the_table_does_not_describe_is_refused(config: dict[str, object]) -> None:
    assert refused(make_row(config=config)).reason == "config_unknown"


def test_a_fixed_value_that_differs_is_another_kernel() -> None:
    config = {"sweep_dim": "H"}
    assert refused(moe_row(config=config)).reason == "config_unknown"
    assert MOE_CONFIG["sweep_dim"] == "T"


def test_a_label_that_two_backends_wrote_is_ambiguous() -> None:
    config = {
        "bsz": 2,
        "hidden_size": 4096,
        "dtype": "torch.bfloat16",
        "intermediate_size": 14336,
        "hidden_act": "silu",
        "activation_type": "swiglu",
        "num_shards": 4,
    }
    tiled = {"kernel_name": "tiled_swiglu", "x_name": "T", "x_value": "1024"}
    row = make_row(config=config, kernel_provider="liger_tiled", liger_version="0.8.0", **tiled)
    assert refused(row).reason == "provider_ambiguous"
    before = matched({**row, "liger_version": "0.6.3"})
    assert before.provider.line == "liger-kernel/LigerTiledSwiGLUMLP"
    assert before.axes["tokens"] == 2 * 1024


def test_tiling_is_no_part_of_the_case() -> None:
    config = {
        "bsz": 2,
        "hidden_size": 4096,
        "dtype": "torch.bfloat16",
        "intermediate_size": 14336,
        "hidden_act": "silu",
        "activation_type": "swiglu",
    }
    names = {"kernel_name": "tiled_swiglu", "x_name": "T", "x_value": "1024"}
    rows = [
        matched(make_row(config={**config, "num_shards": shards}, **names)) for shards in (2, 4)
    ]
    assert rows[0].axes == rows[1].axes
    assert rows[0].operation.slug == "swiglu-mlp"
