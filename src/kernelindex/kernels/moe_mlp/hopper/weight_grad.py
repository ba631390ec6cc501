"""B4 and B5, Hopper: gathered^T @ dense over the rows of each expert, one kernel for both.

    gathered  [T, G]       16-byte cp.async by token
    dense     [rows, D]    TMA, box [64, 256]
    out       [E * G, D]   B4: gathered = dy, dense = act, out = gradient of down_proj
              [E * D, G]   B5 (FLIP): gathered = x, dense = dh, out = gradient of gate_up_proj
    bounds    int32 [2, E] first and end row of each expert

Tile 128 gathered x 256 dense columns, the consumers take 64 gathered columns each; the depth of the
product is the expert's rows. The gathered operand is the narrow one: cp.async costs more than TMA.
With FLIP the tile is transposed on its way out (stmatrix.trans), so that both gradients use the
64 x 256 product: 0.675 ms sustained for B5 against 0.688 with 128 x 128 a consumer.
Each output tile is written once; an expert without rows gets zeros from the empty sum.
FLOPs 2 * rows * G * D; bytes (rows * (G + D) + E * G * D) elements.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .ring import (
    async_copy,
    mbarrier,
    new_barriers,
    publish,
    put_column,
    put_row,
    quarters,
    tma,
    wait_empty,
    wait_gathered,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def split_tile(bounds, t, E: gl.constexpr, GT: gl.constexpr, DT: gl.constexpr):
    """Expert, its first and end row, and the tile's first gathered and dense column."""
    e = gl.minimum(t // (GT * DT), E - 1)
    q = t % (GT * DT)
    return e, gl.load(bounds + e), gl.load(bounds + E + e), (q // DT) * 128, (q % DT) * 256


@gluon.jit
def load_step(row_token, k, end, rr):
    """Tokens of 64 rows from k on; past the end the last one, for no rows at all any valid one."""
    return gl.load(row_token + gl.maximum(gl.minimum(k + rr, end - 1), 0))


@gluon.jit
def weight_grad_load(
    gathered,
    row_token,
    dense,
    bounds,
    ring,
    E: gl.constexpr,
    G: gl.constexpr,
    D: gl.constexpr,
    S: gl.constexpr,
):
    a_bufs, b_bufs, full, empty = ring
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    GT: gl.constexpr = G // 128
    DT: gl.constexpr = D // 256
    rr = gl.arange(0, 64, gl.SliceLayout(1, L))
    cc = gl.arange(0, 64, gl.SliceLayout(0, L))[None, :]
    step = gl.num_programs(0)
    t0 = gl.program_id(0)
    _e, first, end, g0, d0 = split_tile(bounds, t0, E, GT, DT)
    _e, first1, end1, g1, d1 = split_tile(bounds, t0 + step, E, GT, DT)
    token = load_step(row_token, first, end, rr)
    it = 0
    for t in range(t0, E * GT * DT, step):
        # Tokens are read a stage ahead and bounds two tiles ahead. Read where they are used, they
        # held the producer up for longer than a stage: B4 ran at 560 TFLOP/s instead of 709.
        head = load_step(row_token, first1, end1, rr)
        _e, first2, end2, g2, d2 = split_tile(bounds, t + 2 * step, E, GT, DT)
        for k in range(first, end, 64):
            s = it % S
            bar = full.index(s)
            p = gathered + g0 + token[:, None] * G + cc
            token = load_step(row_token, k + 64, end, rr)
            wait_empty(empty, it, S)
            mbarrier.expect(bar, dense.block_type.nbytes)
            tma.async_copy_global_to_shared(dense, [k, d0], bar, b_bufs.index(s))
            async_copy.async_copy_global_to_shared(a_bufs.index(2 * s), p)
            async_copy.async_copy_global_to_shared(a_bufs.index(2 * s + 1), p + 64)
            publish(full, it, S)
            it += 1
        token = head
        first, end, g0, d0 = first1, end1, g1, d1
        first1, end1, g1, d1 = first2, end2, g2, d2
    async_copy.wait_group(0)


@gluon.jit
def weight_grad_step(acc, ring, it, S: gl.constexpr, WG: gl.constexpr):
    """Issues the product of one stage of 64 rows and waits for the one before."""
    a_bufs, b_bufs, full, _empty = ring
    s = it % S
    wait_gathered(full, it, S)
    acc = warpgroup_mma(
        a_bufs.index(2 * s + WG).permute((1, 0)), b_bufs.index(s), acc, is_async=True
    )
    return warpgroup_mma_wait(num_outstanding=1, deps=(acc,))


@gluon.jit
def put_tile(out, y_bufs, WG: gl.constexpr, values, row, col, FLIP: gl.constexpr):
    if FLIP:
        put_column(out, y_bufs, WG, values, row, col)
    else:
        put_row(out, y_bufs, WG, values, row, col)


@gluon.jit
def weight_grad_math(
    WG: gl.constexpr,
    out,
    bounds,
    ring,
    y_bufs,
    E: gl.constexpr,
    G: gl.constexpr,
    D: gl.constexpr,
    S: gl.constexpr,
    FLIP: gl.constexpr,
):
    _a_bufs, _b_bufs, _full, empty = ring
    GT: gl.constexpr = G // 128
    DT: gl.constexpr = D // 256
    TYPE: gl.constexpr = out.dtype
    L: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16]
    )
    it = 0
    old_row = -1
    old_col = 0
    p0, p1, p2, p3 = quarters(gl.zeros([64, 256], TYPE, L))
    for t in range(gl.program_id(0), E * GT * DT, gl.num_programs(0)):
        e, first, end, g0, d0 = split_tile(bounds, t, E, GT, DT)
        steps = (end - first + 63) // 64
        acc = gl.zeros([64, 256], gl.float32, L)
        if steps > 0:
            acc = weight_grad_step(acc, ring, it, S, WG)
            if old_row >= 0:
                put_tile(out, y_bufs, WG, (p0, p1, p2, p3), old_row, old_col, FLIP)
            for k in range(1, steps):
                acc = weight_grad_step(acc, ring, it + k, S, WG)
                mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
            it += steps
            mbarrier.arrive(empty.index((it + S - 1) % S), count=1)
        elif old_row >= 0:
            put_tile(out, y_bufs, WG, (p0, p1, p2, p3), old_row, old_col, FLIP)
        p0, p1, p2, p3 = quarters(acc.to(TYPE))
        old_row = e * D + d0 if FLIP else e * G + g0 + WG * 64
        old_col = g0 + WG * 64 if FLIP else d0
    if old_row >= 0:
        put_tile(out, y_bufs, WG, (p0, p1, p2, p3), old_row, old_col, FLIP)
    tma.store_wait(0)


@gluon.jit
def weight_grad_kernel(
    gathered,
    row_token,
    dense,
    out,
    bounds,
    E: gl.constexpr,
    G: gl.constexpr,
    D: gl.constexpr,
    S: gl.constexpr,
    FLIP: gl.constexpr,
    MATH_REGS: gl.constexpr,
    LOAD_REGS: gl.constexpr,
):
    a_bufs = gl.allocate_shared_memory(out.dtype, [2 * S, 64, 64], out.layout)
    b_bufs = gl.allocate_shared_memory(out.dtype, [S, 64, 256], dense.layout)
    y_bufs = gl.allocate_shared_memory(out.dtype, [4, 64, 64], out.layout)
    full, empty = new_barriers(S, True)
    ring = (a_bufs, b_bufs, full, empty)
    gl.warp_specialize(
        [
            (weight_grad_math, (0, out, bounds, ring, y_bufs, E, G, D, S, FLIP)),
            (weight_grad_math, (1, out, bounds, ring, y_bufs, E, G, D, S, FLIP)),
            (weight_grad_load, (gathered, row_token, dense, bounds, ring, E, G, D, S)),
        ],
        [4, 4],
        [MATH_REGS, LOAD_REGS],
    )
