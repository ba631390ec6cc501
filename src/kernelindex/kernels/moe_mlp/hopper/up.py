"""F1, Hopper: h = x[token] @ gate_up[e]^T and act = silu(gate) * up * weight, one kernel.

    x         [T, H]          gathered, 16-byte cp.async
    w         [E * 2I, H]     TMA, box [128, 64]
    h         [rows, 2I]      out, box [64, 64]
    act       [rows, I]       out, box [64, 64]

Tile 128 rows x (128 gate | 128 up), the consumers take 64 rows each. `act` is computed from the
fp32 sums and written at once; gate and up wait as 16-bit registers and leave under the next tile's
first product (0.641 ms against 0.644, sustained 0.738 against 0.755).
FLOPs 4 * rows * H * I; bytes x + gate_up + rows * 3I elements.
"""

# ruff: noqa: E741  (I is the operation's axis)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.extra.cuda import gdc_launch_dependents

from .chain import settle
from .ring import (
    async_copy,
    drain,
    load_parts,
    load_tile,
    load_tokens,
    mbarrier,
    new_barriers,
    publish,
    put,
    quarters,
    sigmoid,
    slot_at,
    tma,
    wait_empty,
    wait_gathered,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def up_fill(it, x, w, tile, tokens, n0, ring, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr):
    """Fills the stages of one tile; the next stage's number."""
    a_bufs, b_bufs, full, empty = ring
    e, row, end = tile
    upper, lower = tokens
    L: gl.constexpr = upper.type.layout.parent
    columns = gl.arange(0, 64, gl.SliceLayout(0, L))[None, :]
    p0 = x + upper[:, None] * H + columns
    p1 = x + lower[:, None] * H + columns
    two = row + 64 < end
    gate_row = e * (2 * I) + n0
    for k in range(0, H, 64):
        s = it % S
        bar = full.index(s)
        wait_empty(empty, it, S)
        mbarrier.expect(bar, 2 * w.block_type.nbytes)
        gate_buf = b_bufs.index(s).slice(0, 128)
        up_buf = b_bufs.index(s).slice(128, 128)
        tma.async_copy_global_to_shared(w, [gate_row, k], bar, gate_buf)
        tma.async_copy_global_to_shared(w, [gate_row + I, k], bar, up_buf)
        async_copy.async_copy_global_to_shared(a_bufs.index(2 * s), p0 + k)
        if two:
            async_copy.async_copy_global_to_shared(a_bufs.index(2 * s + 1), p1 + k)
        publish(full, it, S)
        it += 1
    return it


@gluon.jit
def up_load(x, row_token, w, tiles, cap, ring, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    NT: gl.constexpr = I // 128
    n_items = gl.load(tiles + 6 * cap) * NT
    step = gl.num_programs(0)
    first = gl.program_id(0)
    e1, row1, end1 = load_tile(tiles, cap, slot_at(first, n_items, NT), 0)
    e2, row2, end2 = load_tile(tiles, cap, slot_at(first + step, n_items, NT), 0)
    upper1, lower1 = load_tokens(row_token, row1, end1, L)
    it = 0
    for t in range(first, n_items, step):
        e, row, end = e1, row1, end1
        upper, lower = upper1, lower1
        n0 = (t % NT) * 128
        parts = load_parts(tiles, cap, t // NT)
        e1, row1, end1 = e2, row2, end2
        upper1, lower1 = load_tokens(row_token, row1, end1, L)
        e2, row2, end2 = load_tile(tiles, cap, slot_at(t + 2 * step, n_items, NT), 0)
        it = up_fill(it, x, w, (e, row, end), (upper, lower), n0, ring, H, I, S)
        if parts > 1:
            e, row, end = load_tile(tiles, cap, t // NT, 1)
            upper, lower = load_tokens(row_token, row, end, L)
            it = up_fill(it, x, w, (e, row, end), (upper, lower), n0, ring, H, I, S)
    async_copy.wait_group(0)


@gluon.jit
def up_step(acc, ring, it, S: gl.constexpr, WG: gl.constexpr):
    """Issues the product of one stage and waits for the one before."""
    a_bufs, b_bufs, full, _empty = ring
    s = it % S
    wait_gathered(full, it, S)
    acc = warpgroup_mma(
        a_bufs.index(2 * s + WG), b_bufs.index(s).permute((1, 0)), acc, is_async=True
    )
    return warpgroup_mma_wait(num_outstanding=1, deps=(acc,))


@gluon.jit
def up_steps(acc, ring, it, first, end, S: gl.constexpr, WG: gl.constexpr):
    """The products of stages `first` to `end` of a tile; each frees the stage before it."""
    _a_bufs, _b_bufs, _full, empty = ring
    for k in range(first, end):
        acc = up_step(acc, ring, it + k, S, WG)
        mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1)
    return acc


@gluon.jit
def put_h(h, y_bufs, WG: gl.constexpr, values, row, col, I: gl.constexpr):
    """Writes 128 gate and 128 up columns through the consumer's two buffers."""
    g0, g1, u0, u1 = values
    put(h, y_bufs.index(2 * WG), g0, row, col)
    put(h, y_bufs.index(2 * WG + 1), g1, row, col + 64)
    put(h, y_bufs.index(2 * WG), u0, row, I + col)
    put(h, y_bufs.index(2 * WG + 1), u1, row, I + col + 64)


@gluon.jit
def put_act(act, y_bufs, WG: gl.constexpr, values, row_weight, row, end, n0):
    """Writes silu(gate) * up * weight; gate and up as 16-bit registers, to be written later."""
    DT: gl.constexpr = act.dtype
    gate0, gate1, up0, up1 = values
    rows = row + gl.arange(0, 64, gl.SliceLayout(1, gate0.type.layout))
    w = gl.where(rows < end, gl.load(row_weight + gl.minimum(rows, end - 1)), 0.0)[:, None]
    a0 = gate0 * sigmoid(gate0) * up0 * w
    put(act, y_bufs.index(2 * WG), a0.to(DT), row, n0)
    a1 = gate1 * sigmoid(gate1) * up1 * w
    put(act, y_bufs.index(2 * WG + 1), a1.to(DT), row, n0 + 64)
    return gate0.to(DT), gate1.to(DT), up0.to(DT), up1.to(DT)


@gluon.jit
def up_math(
    WG: gl.constexpr,
    row_weight,
    h,
    act,
    tiles,
    cap,
    done,
    ring,
    y_bufs,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
    SAVE_H: gl.constexpr,
):
    _a_bufs, _b_bufs, full, empty = ring
    KI: gl.constexpr = H // 64
    DT: gl.constexpr = act.dtype
    L: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16]
    )
    NT: gl.constexpr = I // 128
    n_items = gl.load(tiles + 6 * cap) * NT
    g0, g1, u0, u1 = quarters(gl.zeros([64, 256], DT, L))
    it = 0
    old_row = -1
    old_col = 0
    written = -1  # slot whose piece is on its way and not counted yet
    for t in range(gl.program_id(0), n_items, gl.num_programs(0)):
        for part in range(load_parts(tiles, cap, t // NT)):
            _e, row, end = load_tile(tiles, cap, t // NT, part)
            n0 = (t % NT) * 128
            row += WG * 64
            if row < end:
                acc = up_step(gl.zeros([64, 256], gl.float32, L), ring, it, S, WG)
                if SAVE_H:  # noqa: SIM102  (a constant, then a value)
                    if old_row >= 0:
                        put_h(h, y_bufs, WG, (g0, g1, u0, u1), old_row, old_col, I)
                acc = up_steps(acc, ring, it, 1, S, S, WG)
                # By now `act` is written; it is older than the four copies of h.
                written = settle(done, written, 4 if SAVE_H else 0)
                acc = up_steps(acc, ring, it, S, KI, S, WG)
                acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
                mbarrier.arrive(empty.index((it + KI + S - 1) % S), count=1)
                g0, g1, u0, u1 = put_act(act, y_bufs, WG, quarters(acc), row_weight, row, end, n0)
                old_row = row
                old_col = n0
            else:
                written = settle(done, written, 0)
                drain(full, empty, it, KI, S)
            it += KI
        written = t // NT
    if SAVE_H:  # noqa: SIM102
        if old_row >= 0:
            put_h(h, y_bufs, WG, (g0, g1, u0, u1), old_row, old_col, I)
    settle(done, written, 0)


@gluon.jit
def up_kernel(
    x,
    row_token,
    row_weight,
    w,
    h,
    act,
    tiles,
    cap,
    done,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
    SAVE_H: gl.constexpr,
    MATH_REGS: gl.constexpr,
    LOAD_REGS: gl.constexpr,
):
    a_bufs = gl.allocate_shared_memory(w.dtype, [2 * S, 64, 64], h.layout)
    b_bufs = gl.allocate_shared_memory(w.dtype, [S, 256, 64], w.layout)
    y_bufs = gl.allocate_shared_memory(w.dtype, [4, 64, 64], h.layout)
    full, empty = new_barriers(S, True)
    ring = (a_bufs, b_bufs, full, empty)
    gdc_launch_dependents()
    gl.warp_specialize(
        [
            (up_math, (0, row_weight, h, act, tiles, cap, done, ring, y_bufs, H, I, S, SAVE_H)),
            (up_math, (1, row_weight, h, act, tiles, cap, done, ring, y_bufs, H, I, S, SAVE_H)),
            (up_load, (x, row_token, w, tiles, cap, ring, H, I, S)),
        ],
        [4, 4],
        [MATH_REGS, LOAD_REGS],
    )
