"""A tiled matrix product in plain Triton, small enough to read: c = a @ b^T and its gradients.

Tiles of c are visited in groups of eight rows of tiles, so that neighbours share operands in the
L2 cache; sums are kept in fp32, and fp32 operands are multiplied as fp32, not as TF32.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

__all__ = ["product"]

GROUP = 8
_CONFIGS = [
    triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
    for bm, bn, bk, warps, stages in (
        (128, 256, 64, 8, 3),
        (128, 128, 64, 8, 4),
        (128, 128, 32, 4, 4),
        (64, 128, 64, 4, 4),
        (64, 64, 64, 4, 4),
        (16, 128, 128, 4, 4),
        (16, 64, 256, 4, 3),
    )
]
_WIDE = [
    triton.Config({"BM": bm, "BN": bn, "BK": 32}, num_warps=warps, num_stages=3)
    for bm, bn, warps in ((128, 64, 8), (64, 64, 4), (16, 64, 4))
]
"""For fp32, whose tiles take twice the shared memory."""


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Give a [M, K] @ b^T [K, N] -> [M, N]; any strides, differentiable in both."""
    c: torch.Tensor = _Product.apply(a, b)
    return c


class _Product(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(*inputs)
        return _multiply(*inputs)

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        a, b = ctx.saved_tensors
        dc = upstream[0]
        da = _multiply(dc, b.t()) if ctx.needs_input_grad[0] else None
        db = _multiply(dc.t(), a.t()) if ctx.needs_input_grad[1] else None
        return da, db


def _multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel = _wide_tiles if a.dtype == torch.float32 else _tiles

    def grid(meta: dict[str, int]) -> tuple[int]:
        return (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)

    kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), GROUP=GROUP)
    return c


def _tile_kernel(
    a: tl.tensor,
    b: tl.tensor,
    c: tl.tensor,
    m: tl.tensor,
    n: tl.tensor,
    k: tl.tensor,
    am: tl.tensor,
    ak: tl.tensor,
    bn: tl.tensor,
    bk: tl.tensor,
    cm: tl.tensor,
    cn: tl.tensor,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
) -> None:
    program = tl.program_id(0)
    rows, columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    first = program // (GROUP * columns) * GROUP
    height = tl.minimum(rows - first, GROUP)
    inside = program % (GROUP * columns)
    row, column = first + inside % height, inside // height

    im = (row * BM + tl.arange(0, BM)).to(tl.int64)
    jn = (column * BN + tl.arange(0, BN)).to(tl.int64)
    kk = tl.arange(0, BK).to(tl.int64)
    a_tile = a + im[:, None] * am + kk[None, :] * ak
    b_tile = b + jn[None, :] * bn + kk[:, None] * bk
    a_rows, b_rows = im[:, None] < m, jn[None, :] < n
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        left = k - start
        x = tl.load(a_tile, mask=a_rows & (kk[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=b_rows & (kk[:, None] < left), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        a_tile += BK * ak
        b_tile += BK * bk
    c_tile = c + im[:, None] * cm + jn[None, :] * cn
    tl.store(c_tile, total.to(c.dtype.element_ty), mask=a_rows & b_rows)


_KEY = ["m", "n", "k", "am", "bn"]
_tiles: Any = triton.autotune(_CONFIGS, key=_KEY)(triton.jit(_tile_kernel))
_wide_tiles: Any = triton.autotune(_WIDE, key=_KEY)(triton.jit(_tile_kernel))
