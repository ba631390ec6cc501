"""The fused expert MLP of a mixture-of-experts layer, for training and inference.

    from kernelindex.kernels.moe_mlp import moe_mlp, MoeExperts, replace_experts

PyTorch and Triton are imported when a name is first used. See docs/kernels/moe_mlp.md.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "MoeExperts": "module",
    "MoeMlpError": "errors",
    "moe_mlp": "op",
    "replace_experts": "module",
}

__all__ = ["MoeExperts", "MoeMlpError", "moe_mlp", "replace_experts"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
