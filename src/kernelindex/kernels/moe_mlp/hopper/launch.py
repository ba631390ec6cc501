"""Starts the Gluon kernels: tensor maps, one program for each multiprocessor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from ..start import start
from . import down_grad as _down_grad
from . import gemm as _gemm
from . import up as _up
from . import weight_grad as _weight_grad

if TYPE_CHECKING:
    from ..routing import Routing

# Registers a thread of the consumers and of the producer; 168 a thread is what three warpgroups
# share at the start (65536 / 384, rounded down to 8).
SPLIT = {"MATH_REGS": 224, "LOAD_REGS": 56}
START = {"num_warps": 4, "maxnreg": 168}
STAGES = 4  # 192 KiB of operands leave 32 KiB to write tiles out; 227 KiB is the limit

RING: dict[str, Any] = {"S": STAGES, **SPLIT, **START}


@lru_cache(maxsize=64)
def _box_layout(rows: int, columns: int, half: bool) -> gl.NVMMASharedLayout:
    dtype = gl.float16 if half else gl.bfloat16
    return gl.NVMMASharedLayout.get_default_for([rows, columns], dtype)


@lru_cache(maxsize=16)
def _programs(device: torch.device) -> int:
    if device.type != "cuda":
        return 1  # nothing runs
    return torch.cuda.get_device_properties(device).multi_processor_count


def _map(tensor: torch.Tensor, rows: int, columns: int) -> TensorDescriptor:
    """A tensor map over the matrix [all leading axes, last axis]."""
    width = tensor.shape[-1]
    layout = _box_layout(rows, columns, tensor.dtype == torch.float16)
    height = tensor.numel() // width
    return TensorDescriptor(tensor, [height, width], [width, 1], [rows, columns], layout)


@dataclass(frozen=True)
class HopperEngine:
    """The four kernels; 128-row tiles on segments of 64 rows."""

    def up(
        self, x: torch.Tensor, w: torch.Tensor, r: Routing, h: torch.Tensor, act: torch.Tensor
    ) -> None:
        """F1 into h [rows, 2I] (left alone if it is empty) and act [rows, I]."""
        save = h.numel() > 0
        start(_up.up_kernel, (_programs(x.device),), x)(
            x, r.row_token, r.row_weight, _map(w, 128, 64),
            _map(h if save else act, 64, 64), _map(act, 64, 64),
            r.tiles, r.layout.tiles, r.done,
            H=x.shape[1], I=act.shape[1], SAVE_H=save, **RING,
        )  # fmt: skip

    def gemm(
        self, a: torch.Tensor, w: torch.Tensor, r: Routing, y: torch.Tensor, trans: bool
    ) -> None:
        """F2 (trans) or B2 into y [rows, N]."""
        box = (256, 64) if trans else (64, 256)
        start(_gemm.gemm_kernel, (_programs(a.device),), a)(
            _map(a, 128, 64), _map(w, *box), _map(y, 64, 64), r.tiles, r.layout.tiles, r.done,
            N=y.shape[1], K=a.shape[1], TRANS=trans, CHAINED=trans, launch_pdl=trans, **RING,
        )  # fmt: skip

    def down_grad(
        self, dy: torch.Tensor, w: torch.Tensor, r: Routing, h: torch.Tensor, dh: torch.Tensor
    ) -> torch.Tensor:
        """B1 into dh [rows, 2I]; the router gradient's partial sums, fp32 [I / 256, rows]."""
        inter = dh.shape[1] // 2
        part = torch.empty(inter // 256, r.layout.rows, dtype=torch.float32, device=dy.device)
        start(_down_grad.down_grad_kernel, (_programs(dy.device),), dy)(
            dy, r.row_token, r.row_weight, _map(w, 64, 256), _map(h, 128, 64), _map(dh, 64, 64),
            part, r.layout.rows, r.tiles, r.layout.tiles,
            H=dy.shape[1], I=inter, **RING,
        )  # fmt: skip
        return part

    def grad_weight(
        self, a: torch.Tensor, b: torch.Tensor, r: Routing, out: torch.Tensor, gather_a: bool
    ) -> None:
        """B4 (gather_a: a is [T, M]) or B5 (b is [T, N]) into out [E, M, N]."""
        gathered, dense = (a, b) if gather_a else (b, a)
        start(_weight_grad.weight_grad_kernel, (_programs(a.device),), a)(
            gathered, r.row_token, _map(dense, 64, 256), _map(out, 64, 64), r.bounds,
            E=out.shape[0], G=gathered.shape[1], D=dense.shape[1], FLIP=not gather_a,
            **RING,
        )  # fmt: skip
