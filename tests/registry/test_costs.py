"""Each operation's cost at a known shape against a formula written out by hand."""

from __future__ import annotations

import pytest

from kernelindex.registry.costs import Work, cost_of, shape_of
from kernelindex.registry.operations import load_operations

RECORD = {"tokens": 8192, "hidden": 2048, "intermediate": 768, "experts": 64, "k": 8}
BF16, FP32, INT32, INT64 = 2, 4, 4, 8


def test_moe_at_the_workload_of_record() -> None:
    forward = cost_of("moe-mlp", "forward", RECORD, {"x": "bf16"})
    backward = cost_of("moe-mlp", "backward", RECORD, {"x": "bf16"})
    full = cost_of("moe-mlp", "full", RECORD, {"x": "bf16"})
    assert forward is not None
    assert backward is not None
    assert full is not None
    routed = 8192 * 8
    assert forward.flops == 2 * routed * (2048 * 1536 + 768 * 2048)
    assert round(forward.flops / 1e9, 1) == 618.5
    assert round((backward.flops or 0) / 1e9) == 1237
    assert round((full.flops or 0) / 1e9) == 1855
    weights = 64 * (1536 * 2048 + 2048 * 768)
    io = 2 * 8192 * 2048 * BF16 + routed * (INT32 + BF16)
    assert forward.bytes == weights * BF16 + io
    assert round((forward.bytes or 0) / 1e9, 2) == 0.67


def test_moe_reads_only_the_experts_that_tokens_chose() -> None:
    few = {**RECORD, "tokens": 1, "experts": 128}
    work = cost_of("moe-mlp", "forward", few, {"x": "bf16"})
    chosen = 8 * 3 * 768 * 2048
    assert work is not None
    assert work.bytes == chosen * BF16 + 2 * 2048 * BF16 + 8 * (INT32 + BF16)


def test_a_floor_that_accuses_counts_only_experts_that_any_routing_needs() -> None:
    """Sixteen tokens of eight experts each may all have chosen the same eight of 128."""
    few = {**RECORD, "tokens": 16, "experts": 128}
    usual = cost_of("moe-mlp", "forward", few, {"x": "bf16"})
    least = cost_of("moe-mlp", "forward", few, {"x": "bf16"}, surely=True)
    assert usual is not None
    assert least is not None
    one = 3 * 768 * 2048 * BF16
    assert (usual.bytes or 0) - (least.bytes or 0) == (128 - 8) * one
    assert usual.flops == least.flops


def test_moe_backward_writes_every_experts_gradient() -> None:
    few = {**RECORD, "tokens": 1, "experts": 128}
    work = cost_of("moe-mlp", "backward", few, {"x": "bf16"})
    one = 3 * 768 * 2048
    assert work is not None
    assert work.bytes == (8 + 128) * one * BF16 + 3 * 2048 * BF16 + 8 * (INT32 + 2 * BF16)


def test_inference_costs_what_forward_does() -> None:
    dtypes = {"x": "fp16"}
    forward = cost_of("moe-mlp", "forward", RECORD, dtypes)
    assert cost_of("moe-mlp", "inference", RECORD, dtypes) == forward


T, H, V, F = 4096, 1024, 32000, 2816
N = T * H
LOGITS = T * V

CASES = [
    # slug, axes, dtypes, forward flops, forward bytes, backward bytes
    ("rms-norm", {"tokens": T, "hidden": H}, {"x": "bf16", "weight": "fp32"},
     4 * N, 2 * N * BF16 + H * FP32, 3 * N * BF16 + 2 * H * FP32),
    ("fused-add-rms-norm", {"tokens": T, "hidden": H}, {"x": "bf16", "weight": "bf16"},
     5 * N, 4 * N * BF16 + H * BF16, 6 * N * BF16 + 2 * H * BF16),
    ("layer-norm", {"tokens": T, "hidden": H}, {"x": "fp32", "weight": "fp32", "bias": "fp32"},
     7 * N, (2 * N + 2 * H) * FP32, (3 * N + 4 * H) * FP32),
    ("group-norm", {"batch": 2, "channels": 32, "length": 512, "groups": 8},
     {"x": "fp32", "weight": "fp32", "bias": "fp32"},
     7 * 2 * 32 * 512, (2 * 2 * 32 * 512 + 64) * FP32, (3 * 2 * 32 * 512 + 128) * FP32),
    ("dyt", {"tokens": T, "hidden": H, "with_beta": 1},
     {"x": "bf16", "alpha": "fp32", "gamma": "fp32", "beta": "fp32"},
     4 * N, 2 * N * BF16 + (1 + 2 * H) * FP32, 3 * N * BF16 + (2 + 3 * H) * FP32),
    ("poly-norm", {"tokens": T, "hidden": H}, {"x": "bf16", "weight": "fp32", "bias": "fp32"},
     17 * N, 2 * N * BF16 + 4 * FP32, 3 * N * BF16 + 8 * FP32),
    ("softmax", {"tokens": T, "hidden": H}, {"x": "bf16"}, 5 * N, 2 * N * BF16, 3 * N * BF16),
    ("sparsemax", {"tokens": T, "hidden": H}, {"x": "fp32"}, 6 * N, 2 * N * FP32, 3 * N * FP32),
    ("relu-squared", {"tokens": T, "hidden": H}, {"x": "bf16"}, 2 * N, 2 * N * BF16, 3 * N * BF16),
    ("swiglu", {"tokens": T, "intermediate": F}, {"gate_up": "bf16"},
     5 * T * F, 3 * T * F * BF16, 5 * T * F * BF16),
    ("geglu", {"tokens": T, "intermediate": F}, {"gate_up": "bf16"},
     9 * T * F, 3 * T * F * BF16, 5 * T * F * BF16),
    ("embedding", {"tokens": T, "vocab": V, "dim": H}, {"weight": "fp32"},
     0, T * INT64 + N * FP32, T * INT64 + (N + V * H) * FP32),
    ("swiglu-mlp", {"tokens": T, "hidden": H, "intermediate": F}, {"x": "bf16"},
     3 * 2 * T * H * F + 5 * T * F, (2 * N + 3 * H * F) * BF16, (3 * N + 6 * H * F) * BF16),
    ("geglu-mlp", {"tokens": T, "hidden": H, "intermediate": F}, {"x": "bf16"},
     3 * 2 * T * H * F + 9 * T * F, (2 * N + 3 * H * F) * BF16, (3 * N + 6 * H * F) * BF16),
    ("gemm", {"m": 128, "n": 256, "k": 512}, {"a": "fp16"},
     2 * 128 * 256 * 512, (128 * 512 + 256 * 512 + 128 * 256) * 2,
     (2 * 128 * 512 + 2 * 256 * 512 + 128 * 256) * 2),
    ("cross-entropy", {"tokens": T, "vocab": V}, {"logits": "fp32"},
     4 * LOGITS, LOGITS * FP32 + T * INT64 + FP32, 2 * LOGITS * FP32 + T * INT64 + FP32),
    ("vocab-parallel-cross-entropy", {"tokens": T, "vocab": V, "tp": 2}, {"logits": "bf16"},
     4 * LOGITS // 2, LOGITS // 2 * BF16 + T * INT64 + T * FP32,
     LOGITS * BF16 + T * INT64 + T * FP32),
    ("kl-div", {"tokens": T, "vocab": V}, {"log_q": "fp32"},
     4 * LOGITS, 2 * LOGITS * FP32 + FP32, 3 * LOGITS * FP32 + FP32),
    ("jsd", {"tokens": T, "vocab": V}, {"log_q": "fp32"},
     13 * LOGITS, 2 * LOGITS * FP32 + FP32, 3 * LOGITS * FP32 + FP32),
    ("tvd", {"tokens": T, "vocab": V}, {"p": "fp32"},
     3 * LOGITS, 2 * LOGITS * FP32 + FP32, 3 * LOGITS * FP32 + FP32),
    ("fused-linear-cross-entropy", {"tokens": T, "hidden": H, "vocab": V}, {"x": "bf16"},
     2 * T * H * V, (N + V * H) * BF16 + T * INT64 + FP32,
     2 * (N + V * H) * BF16 + T * INT64 + FP32),
    ("fused-linear-jsd", {"tokens": T, "hidden": H, "vocab": V}, {"student": "bf16"},
     4 * T * H * V, 2 * (N + V * H) * BF16 + FP32, 3 * (N + V * H) * BF16 + FP32),
    ("distill-jsd-loss", {"tokens": T, "hidden": H, "student_hidden": H // 2, "vocab": V},
     {"student": "bf16"}, 2 * T * V * (H + H // 2),
     (N + N // 2 + V * H + V * H // 2) * BF16 + T * INT64 + FP32,
     (2 * N + 2 * V * H) * BF16 + T * INT64 + FP32),
    ("distill-cosine-loss", {"tokens": T, "hidden": H, "student_hidden": H // 2, "vocab": V},
     {"student": "bf16"}, 2 * T * V * (H + H // 2),
     (N + N // 2 + V * H + V * H // 2) * BF16 + T * INT64 + FP32,
     (2 * N + 2 * V * H) * BF16 + T * INT64 + FP32),
    *(
        (f"fused-linear-{name}-loss", {"batch": 4, "seq": 1024, "hidden": H, "vocab": V},
         {"x": "bf16"}, 2 * T * H * V, (N + V * H) * BF16 + T * INT64 + FP32,
         2 * (N + V * H) * BF16 + T * INT64 + FP32)
        for name in ("orpo", "cpo", "simpo")
    ),
    ("fused-linear-kto-loss", {"batch": 4, "seq": 1024, "hidden": H, "vocab": V}, {"x": "bf16"},
     4 * T * H * V, (2 * N + 2 * V * H + V) * BF16 + T * INT64 + 4 + FP32,
     (2 * N + 3 * V * H + 2 * V) * BF16 + T * INT64 + 4 + FP32),
    *(
        (f"fused-linear-grpo-loss-{level}", {"batch": 4, "seq": 1024, "hidden": H, "vocab": V},
         {"x": "bf16"}, 4 * T * H * V,
         (2 * N + 2 * V * H + 4) * BF16 + T * (INT64 + FP32) + FP32,
         (3 * N + 3 * V * H + 4) * BF16 + T * (INT64 + FP32) + FP32)
        for level in ("token", "sequence")
    ),
    *(
        (slug, {"batch": 1, "seq": 1024, "q_heads": 32, "kv_heads": 8, "head_dim": 128},
         {"q": "bf16"}, 3 * 1024 * 40 * 128, 2 * 1024 * 40 * 128 * BF16, 2 * 1024 * 40 * 128 * BF16)
        for slug in ("rope", "llama4-rope", "qwen2vl-mrope")
    ),
    *(
        (slug, {"batch": 2, "channels_in": 4, "channels_out": 4, "length": 64, "kernel": 3,
                "groups": 1}, {"scores": "bf16"},
         2 * 2 * 4 * 4 * 9 * 64 * 64 + act * 2 * 4 * 64 * 64,
         (2 * 2 * 4 * 64 * 64 + 4 * 4 * 9 + 4) * BF16,
         (3 * 2 * 4 * 64 * 64 + 2 * (4 * 4 * 9 + 4)) * BF16)
        for slug, act in (("multi-token-attention", 5), ("sparse-multi-token-attention", 6))
    ),
    ("fused-neighborhood-attention",
     {"batch": 2, "seq": 256, "hidden": 512, "heads": 8, "kernel": 7, "dilation": 1},
     {"x": "fp32"},
     4 * 2 * 512 * 512 * 512 + 2 * 2 * 512 * 7 * 512,
     (2 * 512 * 512 + 4 * (512 * 512 + 512)) * FP32,
     (3 * 512 * 512 + 8 * (512 * 512 + 512)) * FP32),
]  # fmt: skip


@pytest.mark.parametrize(
    ("slug", "axes", "dtypes", "flops", "forward_bytes", "backward_bytes"),
    CASES,
    ids=[case[0] for case in CASES],
)
def test_cost_by_hand(
    slug: str,
    axes: dict[str, int],
    dtypes: dict[str, str],
    flops: int,
    forward_bytes: int,
    backward_bytes: int,
) -> None:
    dtypes = {**dict.fromkeys(_static(slug), next(iter(dtypes.values()))), **dtypes}
    forward = cost_of(slug, "forward", axes, dtypes)
    backward = cost_of(slug, "backward", axes, dtypes)
    assert forward == Work(flops=flops, bytes=forward_bytes)
    assert backward is not None
    assert backward.bytes == backward_bytes


def test_every_operation_of_ours_has_a_case() -> None:
    ours = {slug for slug, op in load_operations().items() if "Liger" in op.source}
    assert ours - {"moe-mlp"} <= {case[0] for case in CASES}


def test_gemms_of_backward_are_twice_those_of_forward() -> None:
    axes = {"m": 128, "n": 256, "k": 512}
    forward = cost_of("gemm", "forward", axes, {})
    backward = cost_of("gemm", "backward", axes, {})
    full = cost_of("gemm", "full", axes, {})
    assert forward is not None
    assert backward is not None
    assert full is not None
    assert (backward.flops or 0) == 2 * (forward.flops or 0)
    assert full.flops == 3 * (forward.flops or 0)


def test_without_a_dtype_flops_are_known_and_bytes_are_not() -> None:
    work = cost_of("gemm", "forward", {"m": 2, "n": 3, "k": 4}, {})
    assert work == Work(flops=48, bytes=None)


def test_a_four_bit_element_counts_half_a_byte() -> None:
    axes = {"m": 2, "n": 2, "k": 2}
    work = cost_of("gemm", "forward", axes, {"a": "fp4_e2m1", "b": "fp4_e2m1", "c": "bf16"})
    assert work == Work(flops=16, bytes=2 + 2 + 8)


@pytest.mark.parametrize(
    ("slug", "timed_pass", "axes"),
    [
        ("no-such-operation", "forward", {"m": 1}),
        ("gemm", "unstated", {"m": 1, "n": 1, "k": 1}),
        ("gemm", "forward", {"m": 1, "n": 1}),
        ("multi-token-attention", "forward",
         {"batch": 1, "channels_in": 1, "channels_out": 1, "length": 1, "kernel": 1, "groups": 0}),
    ],
)  # fmt: skip
def test_what_no_model_covers_is_none(slug: str, timed_pass: str, axes: dict[str, int]) -> None:
    assert cost_of(slug, timed_pass, axes, {}) is None


def test_a_scalar_has_an_empty_shape() -> None:
    loss = load_operations()["kl-div"].outputs[0]
    assert shape_of(loss, {"tokens": 4, "vocab": 8}) == ()


def _static(slug: str) -> list[str]:
    return [tensor.name for tensor in load_operations()[slug].inputs if tensor.dtype == "float"]
