"""F3 and B3: each token's K rows summed in a fixed order; the router gradient's partial sums too.

    y        [rows, H]         rows sorted by expert
    out      [T, H]            sum over k of y[slot_row[t, k]], in fp32; rows of -1 are left out
    dw_part  fp32 [N, rows]    partial sums of the router gradient, one for each column tile
    dw       [T, K]            their sum

FLOPs T * K * H; bytes (T * K + T) * H elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import triton
import triton.language as tl

from .shape import power_of_2
from .start import start

if TYPE_CHECKING:
    import torch

    from .routing import Routing


@triton.jit
def reduce_kernel(
    y,
    slot_row,
    out,
    dw_part,
    dw,
    rows,
    H: tl.constexpr,
    K: tl.constexpr,
    KP: tl.constexpr,
    B: tl.constexpr,
    N: tl.constexpr,
    NP: tl.constexpr,
):
    t = tl.program_id(0)
    for c0 in tl.static_range(0, H, B):
        c = c0 + tl.arange(0, B)
        acc = tl.zeros((B,), tl.float32)
        for k in tl.static_range(K):
            row = tl.load(slot_row + t * K + k).to(tl.int64)
            there = tl.full((B,), 1, tl.int1) & (row >= 0)
            acc += tl.load(y + row * H + c, mask=there, other=0.0).to(tl.float32)
        tl.store(out + t.to(tl.int64) * H + c, acc.to(out.dtype.element_ty))
    if N > 0:
        k = tl.arange(0, KP)
        row = tl.load(slot_row + t * K + k, mask=k < K, other=-1).to(tl.int64)
        n = tl.arange(0, NP)
        mask = (row >= 0)[:, None] & (n < N)[None, :]
        part = tl.load(dw_part + n[None, :] * rows + row[:, None], mask=mask, other=0.0)
        tl.store(dw + t * K + k, tl.sum(part, 1).to(dw.dtype.element_ty), mask=k < K)


def reduce_rows(
    y: torch.Tensor,
    routing: Routing,
    out: torch.Tensor,
    dw_part: torch.Tensor | None = None,
    dw: torch.Tensor | None = None,
) -> None:
    """Sums each token's rows into `out`, and the partial sums into `dw` where given."""
    tokens, hidden = out.shape
    if tokens == 0:
        return
    top_k = routing.layout.slots // tokens
    parts = 0 if dw_part is None else dw_part.shape[0]
    start(reduce_kernel, (tokens,), out)(
        y,
        routing.slot_row,
        out,
        out if dw_part is None else dw_part,
        out if dw is None else dw,
        routing.layout.rows,
        hidden,
        top_k,
        max(2, power_of_2(top_k)),
        min(2048, hidden & -hidden),
        parts,
        power_of_2(parts),
        num_warps=8,
    )
