"""Sizes and choices made on the host before a kernel starts: index buffer, bounds, tiles."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernelindex.kernels.moe_mlp.config import (  # noqa: E402
    DECODE,
    DENSE,
    DENSE_SMALL,
    FEW,
    SPARSE,
    fit_columns,
    fits_hopper,
)
from kernelindex.kernels.moe_mlp.passes import plan_for  # noqa: E402
from kernelindex.kernels.moe_mlp.routing import Layout, plan_layout, view_routing  # noqa: E402
from kernelindex.kernels.moe_mlp.shape import Shape  # noqa: E402

H200, A100, RTX_4090 = (9, 0), (8, 0), (8, 9)
SHAPES = (
    Shape(1, 256, 256, 1, 1),
    Shape(1, 2048, 768, 128, 8),
    Shape(7, 320, 192, 9, 9),
    Shape(513, 768, 256, 1000, 3),
    Shape(8192, 2048, 768, 64, 8),
)


def layouts() -> list[Layout]:
    tiles = ((16, 16), (32, 32), (64, 64), (128, 128), (128, 64))
    return [plan_layout(shape, *tile) for shape in SHAPES for tile in tiles]


@pytest.mark.parametrize("layout", layouts(), ids=str)
def test_parts_of_the_index_buffer_follow_each_other_and_hold_their_tables(layout: Layout) -> None:
    routing = view_routing(
        layout, torch.arange(layout.index_size, dtype=torch.int32), torch.empty(layout.rows)
    )
    parts = (routing.row_token, routing.slot_row, routing.tiles, routing.done, routing.bounds)
    assert torch.equal(torch.cat(parts), routing.index)
    wanted = (layout.rows, layout.slots, 6 * layout.tiles + 2, layout.tiles, 2 * layout.experts)
    assert all(part.numel() >= size for part, size in zip(parts, wanted, strict=True))
    # A kernel compiled for one aligned address runs for every shape, and tiles are listed by 16.
    assert all(int(part[0]) % 16 == 0 for part in parts)
    assert layout.tiles % 16 == 0


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_draw_needs_more_rows_or_slots_than_are_planned(shape: Shape) -> None:
    layout = plan_layout(shape, 128, 64)
    most = min(shape.experts, shape.slots)
    for chosen in {1, max(1, most // 2), max(1, most - 1), most}:
        # One pair to each chosen expert and all others to one: the most partial tiles.
        counts = [1] * (chosen - 1) + [shape.slots - chosen + 1]
        halves = [-(-count // 64) for count in counts]
        assert 64 * sum(halves) <= layout.rows
        slots = sum(half // 2 for half in halves) + -(-sum(half % 2 for half in halves) // 2)
        assert slots <= layout.tiles


def test_an_item_of_the_down_projection_fills_the_ring() -> None:
    """What bounds F2's queue, and F1's first stages: the least shape that Hopper's kernels take."""
    from kernelindex.kernels.moe_mlp.hopper.chain import Q
    from kernelindex.kernels.moe_mlp.hopper.launch import STAGES

    widths = range(64, 1025, 64)
    inter = min(i for i in widths if fits_hopper(Shape(1024, 2048, i, 8, 8)))
    hidden = min(h for h in widths if fits_hopper(Shape(1024, h, 768, 8, 8)))
    assert inter // 64 >= STAGES
    assert hidden // 64 >= STAGES
    assert Q.value >= 3


@pytest.mark.parametrize(
    ("shape", "capability", "name"),
    [
        (Shape(8192, 2048, 768, 64, 8), H200, "hopper"),
        (Shape(8192, 2048, 768, 64, 8), A100, "dense"),
        (Shape(8192, 2048, 768, 64, 8), RTX_4090, "dense-small"),
        (Shape(8192, 2048, 384, 64, 8), H200, "dense"),  # I off 256
        (Shape(8192, 320, 768, 64, 8), H200, "dense"),  # H off 256
        (Shape(2**20, 2048, 768, 64, 8), H200, "dense"),  # offsets past 32 bits
        (Shape(512, 2048, 768, 64, 8), A100, "sparse"),
        (Shape(256, 2048, 768, 128, 8), H200, "few"),
        (Shape(1, 2048, 768, 128, 8), H200, "decode"),
    ],
    ids=str,
)
def test_each_shape_has_its_configuration(
    shape: Shape, capability: tuple[int, int], name: str
) -> None:
    launch, layout = plan_for(shape, capability)
    assert launch.name == name
    assert launch.hopper == (name == "hopper")
    assert (layout.block_rows, layout.align) == (launch.block_rows, launch.align)
    assert launch.align == (64 if launch.hopper else launch.block_rows)


def test_tiles_of_plain_triton_divide_every_axis_that_is_taken() -> None:
    for portable in (DECODE, FEW, SPARSE, DENSE, DENSE_SMALL):
        for tile in (portable.up, portable.down, portable.down_grad, portable.up_grad):
            for size in range(64, 2049, 64):
                assert size % fit_columns(tile.columns, size) == 0
                assert size % fit_columns(tile.depth, size) == 0
                assert min(fit_columns(tile.columns, size), fit_columns(tile.depth, size)) >= 64
