"""Starts the plain Triton kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from ..config import Portable, Tile, fit_columns
from ..start import start
from . import rows, weight_grad

if TYPE_CHECKING:
    from ..routing import Routing


@dataclass(frozen=True)
class PortableEngine:
    """The four kernels with the tiles of one shape class."""

    tiles: Portable

    def up(
        self, x: torch.Tensor, w: torch.Tensor, r: Routing, h: torch.Tensor, act: torch.Tensor
    ) -> None:
        """F1 into h [rows, 2I] (left alone if it is empty) and act [rows, I]."""
        inter, hidden = act.shape[1], x.shape[1]
        t = self.tiles.up
        columns, depth = fit_columns(t.columns, inter), fit_columns(t.depth, hidden)
        start(rows.up_kernel, (r.layout.tiles * (inter // columns),), x)(
            x, w, r.row_token, r.row_weight, r.tiles, r.layout.tiles, hidden // depth, h, act,
            hidden, inter, self.tiles.block_rows, columns, depth, h.numel() > 0,
            num_warps=t.warps, num_stages=t.stages,
        )  # fmt: skip

    def gemm(
        self, a: torch.Tensor, w: torch.Tensor, r: Routing, y: torch.Tensor, trans: bool
    ) -> None:
        """F2 (trans) or B2 into y [rows, N]."""
        t: Tile = self.tiles.down if trans else self.tiles.up_grad
        depth, width = a.shape[1], y.shape[1]
        columns, step = fit_columns(t.columns, width), fit_columns(t.depth, depth)
        start(rows.gemm_kernel, (r.layout.tiles * (width // columns),), a)(
            a, w, r.tiles, r.layout.tiles, depth // step, y,
            width, depth, self.tiles.block_rows, columns, step, trans,
            num_warps=t.warps, num_stages=t.stages,
        )  # fmt: skip

    def down_grad(
        self, dy: torch.Tensor, w: torch.Tensor, r: Routing, h: torch.Tensor, dh: torch.Tensor
    ) -> torch.Tensor:
        """B1 into dh [rows, 2I]; the router gradient's partial sums, fp32 [I / columns, rows]."""
        hidden, inter = dy.shape[1], dh.shape[1] // 2
        t = self.tiles.down_grad
        columns, step = fit_columns(t.columns, inter), fit_columns(t.depth, hidden)
        part = torch.empty(inter // columns, r.layout.rows, dtype=torch.float32, device=dy.device)
        start(rows.down_grad_kernel, (r.layout.tiles * (inter // columns),), dy)(
            dy, w, r.row_token, r.row_weight, r.tiles, r.layout.tiles, hidden // step, h, dh, part,
            r.layout.rows, hidden, inter, self.tiles.block_rows, columns, step,
            num_warps=t.warps, num_stages=t.stages,
        )  # fmt: skip
        return part

    def grad_weight(
        self, a: torch.Tensor, b: torch.Tensor, r: Routing, out: torch.Tensor, gather_a: bool
    ) -> None:
        """B4 (gather_a) or B5 into out [E, M, N]."""
        experts, m, n = out.shape
        t = self.tiles.weight_grad
        bm, bn = fit_columns(t.columns, m), fit_columns(t.columns, n)
        start(weight_grad.weight_grad_kernel, (experts * (m // bm) * (n // bn),), a)(
            a, b, r.row_token, r.bounds, out, experts, m, n, bm, bn, t.depth, gather_a,
            num_warps=t.warps, num_stages=t.stages,
        )  # fmt: skip
