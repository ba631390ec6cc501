"""A GPU in name only: what a launch looks up and is given, without one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from kernelindex.kernels.moe_mlp import passes, reduce, routing
from kernelindex.kernels.moe_mlp.hopper import down_grad, gemm, up, weight_grad
from kernelindex.kernels.moe_mlp.passes import plan_for
from kernelindex.kernels.moe_mlp.portable import rows
from kernelindex.kernels.moe_mlp.portable import weight_grad as plain_grad
from kernelindex.kernels.moe_mlp.shape import Shape
from kernelindex.kernels.moe_mlp.values import Inputs

KERNELS = (
    *(routing.route_kernel, routing.count_kernel, routing.place_kernel, reduce.reduce_kernel),
    *(up.up_kernel, gemm.gemm_kernel, down_grad.down_grad_kernel, weight_grad.weight_grad_kernel),
    *(rows.up_kernel, rows.gemm_kernel, rows.down_grad_kernel, plain_grad.weight_grad_kernel),
)
HOPPER, AMPERE = (9, 0), (8, 0)


class Driver:
    """Triton's driver; each new `device` has no kernel yet."""

    launcher_cls: Any

    def __init__(self, capability: tuple[int, int]) -> None:
        self.device, self.capability = 0, capability

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return self.device

    def get_current_stream(self, device: int | None = None) -> int:
        return 0


def use(fake: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have passes planned for the driver, and kernels as a new process has them."""
    monkeypatch.setattr(driver, "_active", fake)
    monkeypatch.setattr(passes, "plan_on", lambda shape, _: plan_for(shape, fake.capability))
    for kernel in KERNELS:
        monkeypatch.setattr(kernel, "device_caches", defaultdict(kernel.create_binder))
        monkeypatch.setattr(kernel, "compile", None, raising=False)  # restored afterwards


def draw(shape: Shape, dtype: Any = torch.bfloat16, index: Any = torch.int32) -> Inputs:
    """Tensors with addresses; nobody touches their memory."""
    t, h, i, e, k = shape.tokens, shape.hidden, shape.inter, shape.experts, shape.top_k
    x, gate_up, down = (torch.empty(*a, dtype=dtype) for a in ((t, h), (e, 2 * i, h), (e, h, i)))
    return Inputs(x, gate_up, down, torch.empty(t, k, dtype=index), x.new_empty(t, k))
