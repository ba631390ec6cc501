"""Launch configurations by shape class: a table, so that the first call compiles and never tunes.

The classes split on rows for an expert, T * K / E, because that decides the row tile, and on the
architecture. Every number comes from a measurement in docs/kernels/moe_mlp.md or is marked as not
measured there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shape import Shape


@dataclass(frozen=True)
class Tile:
    """One plain Triton launch: tile columns, depth, warps, pipeline stages."""

    columns: int
    depth: int
    warps: int
    stages: int


@dataclass(frozen=True)
class Portable:
    """Plain Triton: the row tile and a tile for each kernel."""

    block_rows: int
    up: Tile
    down: Tile
    down_grad: Tile
    up_grad: Tile
    weight_grad: Tile


@dataclass(frozen=True)
class Launch:
    """How one call runs. `hopper` uses the Gluon kernels with 128-row tiles on 64-row segments."""

    name: str
    block_rows: int
    align: int
    hopper: bool
    portable: Portable


# H = 2048, I = 768, E = 128, K = 8 on an H200, graph replay, forward / backward in us:
#   16 rows: T = 1 43 / 315, T = 16 256 / 620; with 32 columns 44 / 347 and 256 / 676; with 128
#            columns, in the weight gradient too, 52 / 320 and 263 / 582
#   32 rows: T = 256 449 / 719; 16 rows 470 / 783, 64 rows 467 / 909, Gluon 453 / 756
DECODE = Portable(16, *(Tile(64, 128, 4, 4),) * 4, weight_grad=Tile(128, 32, 4, 3))
FEW = Portable(32, *(Tile(64, 128, 4, 4),) * 4, weight_grad=Tile(128, 32, 4, 2))
SPARSE = Portable(64, *(Tile(128, 64, 8, 3),) * 4, weight_grad=Tile(128, 64, 8, 3))
DENSE = Portable(128, *(Tile(128, 64, 8, 3),) * 4, weight_grad=Tile(128, 64, 8, 3))

DENSE_SMALL = Portable(128, *(Tile(64, 64, 8, 3),) * 4, weight_grad=Tile(128, 32, 8, 3))

SMALL_SHARED = {(8, 6), (8, 7), (8, 9), (12, 0), (12, 1)}  # about 99 KiB for a block, not 160
DECODE_ROWS = 8  # rows an expert: 16-row tiles up to here
FEW_ROWS = 16  # 32-row tiles up to here; at 32 rows Gluon leads, 341 / 751 us against 350 / 922
DENSE_ROWS = 96  # 128-row tiles from here, off sm_90; not measured


def choose_launch(shape: Shape, capability: tuple[int, int]) -> Launch:
    """The configuration for a shape on an architecture."""
    per_expert = shape.slots / max(1, min(shape.experts, shape.slots))
    if per_expert <= DECODE_ROWS:
        return _portable("decode", DECODE)
    if per_expert <= FEW_ROWS:
        return _portable("few", FEW)
    if capability == (9, 0) and fits_hopper(shape):
        return Launch("hopper", 128, 64, True, SPARSE)
    if per_expert < DENSE_ROWS:
        return _portable("sparse", SPARSE)
    if capability in SMALL_SHARED:
        return _portable("dense-small", DENSE_SMALL)
    return _portable("dense", DENSE)


def fits_hopper(shape: Shape) -> bool:
    """The Gluon tiles: 256 columns of H and I, offsets in 32 bits."""
    offsets = shape.tokens * shape.hidden
    return shape.hidden % 256 == 0 and shape.inter % 256 == 0 and offsets < 2**31


def fit_columns(columns: int, size: int) -> int:
    """The widest tile up to `columns` that divides an axis; axes are multiples of 64."""
    while size % columns:
        columns //= 2
    return columns


def _portable(name: str, tiles: Portable) -> Launch:
    return Launch(name, tiles.block_rows, tiles.block_rows, False, tiles)
