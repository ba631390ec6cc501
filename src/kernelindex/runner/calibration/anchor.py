"""The anchor: one matrix product that every batch of a runner measures.

bf16 of about 0.5 ms on a device, fp32 of about 1 ms on one core of a CPU; normal numbers,
since a product of zeros draws less power and runs faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.calibration.sizes import device_rates

if TYPE_CHECKING:
    from collections.abc import Callable

WANTED_NS = 500_000.0
CPU_SIDE = 384
_SEED = 20261130


def matmul(device: str) -> Callable[[], object]:
    """One call of the anchor on ``device``, its operands made."""
    if device.startswith("cuda"):
        return device_matmul(device, device_rates(device).matmul_side(WANTED_NS))
    return host_matmul(CPU_SIDE)


def device_matmul(device: str, side: int) -> Callable[[], object]:
    """``out = left @ right``, bf16 [side, side] each."""
    import torch

    generator = torch.Generator(device=device).manual_seed(_SEED)
    kind = {"device": device, "dtype": torch.bfloat16}
    left, right = (torch.randn(side, side, generator=generator, **kind) for _ in range(2))
    out, product = torch.empty_like(left), torch.mm
    return lambda: product(left, right, out=out)


def host_matmul(side: int) -> Callable[[], object]:
    """``out = left @ right``, fp32 [side, side] each, by numpy, else by torch."""
    try:
        import numpy as np
    except ImportError:
        return _torch_host_matmul(side)
    rng = np.random.default_rng(_SEED)
    left, right = (rng.standard_normal((side, side), dtype=np.float32) for _ in range(2))
    out: Any = np.empty_like(left)
    product = np.matmul
    return lambda: product(left, right, out=out)


def _torch_host_matmul(side: int) -> Callable[[], object]:
    import torch

    left, right = torch.randn(side, side), torch.randn(side, side)
    out, product = torch.empty_like(left), torch.mm
    return lambda: product(left, right, out=out)
