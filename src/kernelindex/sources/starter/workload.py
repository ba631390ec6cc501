"""What was measured, and on what: the workload of record and the H200 it ran on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kernelindex.manifests import Manifest, parse
from kernelindex.registry.operation_specs import build_operation
from kernelindex.sources.starter.data import load_json

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TOLERANCE", "build_environment", "build_workload"]

V1 = "kernelindex.dev/v1alpha1"
V2 = "kernelindex.dev/v1alpha2"
TOLERANCE = 6e-3
"""Largest relative Frobenius error of each output and gradient; bf16 rounding of the
operands alone leaves 2.9e-3 to 5.6e-3 in the implementations measured."""

_SCALED = {"generator": "normal", "parameters": {"scale": 0.02}}
_GRADIENTS = ("x", "gate_up_proj", "down_proj", "top_k_weights")


@cache
def build_workload() -> Manifest:
    """The case of Liger's rows, with a correctness policy where theirs has none."""
    axes = load_json("h200.json")["workload"]
    outputs = ("y", *(f"grad_{name}" for name in _GRADIENTS))
    spec: dict[str, Any] = {
        "operationSpecDigest": build_operation("moe-mlp").digest,
        "axes": axes,
        "tensors": _tensors(axes),
        "correctness": {"comparator": "relative_frobenius"},
        "routing": {"distribution": "uniform", "generator": "top_k_of_normal_logits"},
        "gradients": list(_GRADIENTS),
        "upstreamGradients": {"y": {"generator": "normal"}},
        "tolerances": {output: {"maxFrobeniusError": TOLERANCE} for output in outputs},
    }
    metadata = {
        "name": "moe-mlp-workload-of-record",
        "title": "Fused MoE expert MLP · 8192 tokens, 64 experts, bf16, results checked",
    }
    return parse({"apiVersion": V2, "kind": "WorkloadCase", "metadata": metadata, "spec": spec})


def _tensors(axes: Mapping[str, int]) -> dict[str, Any]:
    tokens, hidden, experts = axes["tokens"], axes["hidden"], axes["experts"]
    inner, kept = axes["intermediate"], axes["k"]
    return {
        "x": _tensor([tokens, hidden], {"generator": "normal", "seed": 42}),
        "gate_up_proj": _tensor([experts, 2 * inner, hidden], _SCALED, role="static"),
        "down_proj": _tensor([experts, hidden, inner], _SCALED, role="static"),
        "top_k_index": _tensor(
            [tokens, kept], {"generator": "top_k_of_normal_logits"}, dtype="int32"
        ),
        "top_k_weights": _tensor([tokens, kept], {"generator": "softmax_of_kept_logits"}),
    }


def _tensor(
    shape: list[int], data: Mapping[str, Any], *, dtype: str = "bf16", role: str = "per_call"
) -> dict[str, Any]:
    return {"shape": shape, "dtype": dtype, "data": dict(data), "role": role}


@cache
def build_environment() -> Manifest:
    """The H200 and its software, as measured with."""
    data = load_json("h200.json")
    software = data["software"]
    spec = {
        "hardware": {
            "vendor": "nvidia",
            "product": data["device"]["product"],
            "architecture": "sm_90",
            "memoryBytes": data["device"]["memory_mib"] << 20,
            "count": 1,
        },
        "software": {
            "driver": software["driver"],
            "cudaToolkit": software["cuda"],
            "framework": {"name": "pytorch", "version": software["torch"]},
            "libraries": {"triton": software["triton"], "python": software["python"]},
        },
        "settings": {"powerLimitWatts": 700},
    }
    metadata = {"name": "kernelindex-h200-2026-11-30", "title": "NVIDIA H200, 2026-11-30"}
    return parse(
        {"apiVersion": V1, "kind": "ExecutionEnvironment", "metadata": metadata, "spec": spec}
    )
