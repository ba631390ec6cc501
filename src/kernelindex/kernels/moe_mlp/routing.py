"""F0: which rows each expert works on, decided on the device without a host synchronisation.

Rows are token-expert pairs sorted by expert, stable in the token. Each expert's segment starts at a
multiple of `align` rows, so tiles need no masks; the number of rows is only bounded on the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from .routing_kernels import count_kernel, place_kernel, route_kernel
from .shape import power_of_2
from .start import start

if TYPE_CHECKING:
    from .shape import Shape

# One block takes about 50 ns a pair: 110 us at 2048 pairs, where two kernels take 18.
ONE_BLOCK_SLOTS = 256


@dataclass(frozen=True)
class Layout:
    """Sizes of the routing buffers for one shape and row tile."""

    block_rows: int
    align: int
    rows: int  # rows of every sorted buffer, padding included
    tiles: int  # most row tiles there can be, a multiple of 16
    slots: int
    experts: int

    @property
    def parts(self) -> tuple[int, ...]:
        """int32 elements of each part of the index buffer, in the order of `Routing`."""
        t = self.tiles
        return _up16(self.rows), _up16(self.slots), 6 * t + 16, t, 2 * self.experts

    @property
    def index_size(self) -> int:
        """int32 elements of the index buffer."""
        return sum(self.parts)


def plan_layout(shape: Shape, block_rows: int, align: int) -> Layout:
    """Bounds on rows and tiles: each chosen expert adds at most one partial tile."""
    chosen = min(shape.experts, shape.slots)
    rows = (shape.slots + chosen * (align - 1) + align - 1) // align * align
    tiles = _up16(shape.slots // block_rows + chosen)
    return Layout(block_rows, align, max(rows, align), tiles, shape.slots, shape.experts)


@dataclass(frozen=True)
class Routing:
    """Views into the index buffer.

    row_token   int32 [rows]           token of each row; padding is not written
    slot_row    int32 [T * K]          row of each token-expert pair, -1 for one without an expert
    tiles       int32 [6 * tiles + 2]  expert, first row, end row of each slot's tile; the same of
                                       a half tile that shares it, end 0 for none; number of slots;
                                       0, where F2 counts the items it has begun
    done        int32 [tiles]          0, where F1 counts the pieces of a slot it has written; past
                                       the last slot more than it ever counts
    bounds      int32 [2, E]           first and end row of each expert
    row_weight  fp32  [rows]           router weight of each row
    """

    layout: Layout
    index: torch.Tensor
    row_token: torch.Tensor
    slot_row: torch.Tensor
    tiles: torch.Tensor
    done: torch.Tensor
    bounds: torch.Tensor
    row_weight: torch.Tensor


def view_routing(layout: Layout, index: torch.Tensor, row_weight: torch.Tensor) -> Routing:
    """Names the parts of an index buffer that `route` filled."""
    token, slot_row, tiles, done, bounds = torch.split_with_sizes(index, layout.parts)
    return Routing(layout, index, token, slot_row, tiles, done, bounds, row_weight)


def route(top_k_index: torch.Tensor, top_k_weights: torch.Tensor, layout: Layout) -> Routing:
    """Sorts the pairs by expert: one kernel for few pairs, else two."""
    device = top_k_index.device
    index = torch.empty(layout.index_size, dtype=torch.int32, device=device)
    row_weight = torch.empty(layout.rows, dtype=torch.float32, device=device)
    routing = view_routing(layout, index, row_weight)
    top_k = top_k_index.shape[1]
    padded = max(16, power_of_2(layout.experts))
    step = max(16, 8192 // padded)
    outputs = (
        routing.row_token,
        row_weight,
        routing.slot_row,
        routing.tiles,
        routing.done,
        routing.bounds,
    )
    axes = (layout.slots, top_k, layout.tiles)
    if layout.slots <= ONE_BLOCK_SLOTS:
        one_block = (layout.experts, step, padded, layout.block_rows, layout.align)
        start(route_kernel, (1,), index)(
            top_k_index, top_k_weights, *outputs, *axes, *one_block, num_warps=8
        )
        return routing
    chunk = max(step, power_of_2(-(-layout.slots // 128)))
    chunks = -(-layout.slots // chunk)
    ranks = _up16(layout.slots)  # an address that is no multiple of 16 is compiled for again
    scratch = torch.empty(ranks + chunks * padded, dtype=torch.int32, device=device)
    rank, count = scratch[:ranks], scratch[ranks:]
    start(count_kernel, (chunks,), index)(
        top_k_index, rank, count, layout.slots, chunk, step, layout.experts, padded
    )
    blocks = (layout.experts, padded, layout.block_rows, layout.align)
    start(place_kernel, (chunks,), index)(
        top_k_index, top_k_weights, rank, count, *outputs, *axes, chunks, chunk, *blocks
    )
    return routing


def _up16(n: int) -> int:
    return (n + 15) // 16 * 16
