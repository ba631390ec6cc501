"""B1, Hopper: gradient of the up projection's output and of the router weights, one kernel.

    da = dy[token] @ down[e], then with gate and up read back
    dgate = da * w * up * silu'(gate)    dup = da * w * silu(gate)    dw = sum(da * silu(gate) * up)

    dy        [T, H]        gathered, 16-byte cp.async
    w         [E * H, I]    TMA, box [64, 256]
    h         [rows, 2I]    TMA, box [128, 64]
    dh        [rows, 2I]    out, box [64, 64]
    dw_part   fp32 [I / 256, rows]   out: partial sums, added up in a fixed order later

Tile 128 x 256, the consumers take 64 rows each. The ring carries H / 64 operand stages and then
four stages of 64 gate and 64 up columns, so gate and up are on their way while the products run;
their gradients replace them in the stage and leave from there.
FLOPs 2 * rows * H * I; bytes dy + down + rows * 4I elements.
"""

# ruff: noqa: E741  (I is the operation's axis)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .ring import (
    async_copy,
    drain,
    fence_async_shared,
    load_parts,
    load_tile,
    load_tokens,
    mbarrier,
    new_barriers,
    publish,
    quarters,
    sigmoid,
    slot_at,
    tma,
    wait_empty,
    wait_full,
    wait_gathered,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def h_buffers(ring, s, layout: gl.constexpr):
    """Stage `s` seen as [128, 64] gate and [128, 64] up."""
    a_bufs, b_bufs, _full, _empty = ring
    up = b_bufs.index(s)._reinterpret(a_bufs.dtype, [256, 64], layout)
    return a_bufs.index(s), up.slice(0, 128)


@gluon.jit
def down_grad_fill(
    it, dy, w, h, tile, tokens, n0, ring, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr
):
    """Fills the stages of one tile, products first, then gate and up; the next stage's number."""
    a_bufs, b_bufs, full, empty = ring
    e, row, end = tile
    upper, lower = tokens
    L: gl.constexpr = upper.type.layout.parent
    HL: gl.constexpr = h.layout
    columns = gl.arange(0, 64, gl.SliceLayout(0, L))[None, :]
    p0 = dy + upper[:, None] * H + columns
    p1 = dy + lower[:, None] * H + columns
    two = row + 64 < end
    for k in range(0, H, 64):
        s = it % S
        bar = full.index(s)
        wait_empty(empty, it, S)
        mbarrier.expect(bar, w.block_type.nbytes)
        tma.async_copy_global_to_shared(w, [e * H + k, n0], bar, b_bufs.index(s))
        async_copy.async_copy_global_to_shared(a_bufs.index(s).slice(0, 64), p0 + k)
        if two:
            async_copy.async_copy_global_to_shared(a_bufs.index(s).slice(64, 64), p1 + k)
        publish(full, it, S)
        it += 1
    for q in gl.static_range(4):
        bar = full.index(it % S)
        wait_empty(empty, it, S)
        gate_buf, up_buf = h_buffers(ring, it % S, HL)
        mbarrier.expect(bar, 2 * h.block_type.nbytes)
        tma.async_copy_global_to_shared(h, [row, n0 + q * 64], bar, gate_buf)
        tma.async_copy_global_to_shared(h, [row, I + n0 + q * 64], bar, up_buf)
        publish(full, it, S)
        it += 1
    return it


@gluon.jit
def down_grad_load(
    dy, row_token, w, h, tiles, cap, ring, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr
):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    NT: gl.constexpr = I // 256
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
        n0 = (t % NT) * 256
        parts = load_parts(tiles, cap, t // NT)
        e1, row1, end1 = e2, row2, end2
        upper1, lower1 = load_tokens(row_token, row1, end1, L)
        e2, row2, end2 = load_tile(tiles, cap, slot_at(t + 2 * step, n_items, NT), 0)
        it = down_grad_fill(it, dy, w, h, (e, row, end), (upper, lower), n0, ring, H, I, S)
        if parts > 1:
            e, row, end = load_tile(tiles, cap, t // NT, 1)
            upper, lower = load_tokens(row_token, row, end, L)
            it = down_grad_fill(it, dy, w, h, (e, row, end), (upper, lower), n0, ring, H, I, S)
    async_copy.wait_group(0)


@gluon.jit
def swiglu_grad(da, w, gate_buf, up_buf):
    """Replaces gate and up by their gradients; the rows' partial sums of the router gradient."""
    L: gl.constexpr = da.type.layout
    g = gate_buf.load(L).to(gl.float32)
    u = up_buf.load(L).to(gl.float32)
    s = sigmoid(g)
    silu = g * s
    p = da * silu
    dw = gl.sum(p * u, axis=1)
    wl = gl.convert_layout(w, gl.SliceLayout(1, L))[:, None]
    gate_buf.store((da * u * (s + silu - silu * s) * wl).to(gate_buf.dtype))
    up_buf.store((p * wl).to(up_buf.dtype))
    return gl.convert_layout(dw, w.type.layout)


@gluon.jit
def down_grad_step(acc, ring, it, S: gl.constexpr, WG: gl.constexpr):
    """Issues the product of one stage and waits for the one before."""
    a_bufs, b_bufs, full, _empty = ring
    wait_gathered(full, it, S)
    acc = warpgroup_mma(
        a_bufs.index(it % S).slice(WG * 64, 64), b_bufs.index(it % S), acc, is_async=True
    )
    return warpgroup_mma_wait(num_outstanding=1, deps=(acc,))


@gluon.jit
def down_grad_math(
    WG: gl.constexpr,
    row_weight,
    dh,
    dw_part,
    rows_cap,
    tiles,
    cap,
    ring,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
):
    _a_bufs, _b_bufs, full, empty = ring
    HL: gl.constexpr = dh.layout
    KI: gl.constexpr = H // 64
    NT: gl.constexpr = I // 256
    L: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16]
    )
    n_items = gl.load(tiles + 6 * cap) * NT
    it = 0
    for t in range(gl.program_id(0), n_items, gl.num_programs(0)):
        for part in range(load_parts(tiles, cap, t // NT)):
            _e, row, end = load_tile(tiles, cap, t // NT, part)
            n0 = (t % NT) * 256
            row += WG * 64
            if row < end:
                rows = row + gl.arange(0, 64, gl.SliceLayout(1, L))
                acc = down_grad_step(gl.zeros([64, 256], gl.float32, L), ring, it, S, WG)
                for k in range(1, KI):
                    acc = down_grad_step(acc, ring, it + k, S, WG)
                    mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1)
                w = gl.where(rows < end, gl.load(row_weight + gl.minimum(rows, end - 1)), 0.0)
                acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
                mbarrier.arrive(empty.index((it + KI + S - 1) % S), count=1)
                das = quarters(acc)
                dw = gl.zeros([64], gl.float32, gl.SliceLayout(1, L))
                for q in gl.static_range(4):
                    s = (it + KI + q) % S
                    wait_full(full, it + KI + q, S)
                    gate_all, up_all = h_buffers(ring, s, HL)
                    gate_buf = gate_all.slice(WG * 64, 64)
                    up_buf = up_all.slice(WG * 64, 64)
                    dw += swiglu_grad(das[q], w, gate_buf, up_buf)
                    fence_async_shared()
                    tma.async_copy_shared_to_global(dh, [row, n0 + q * 64], gate_buf)
                    tma.async_copy_shared_to_global(dh, [row, I + n0 + q * 64], up_buf)
                    if q > 0:
                        tma.store_wait(2)
                        mbarrier.arrive(empty.index((it + KI + q + S - 1) % S), count=1)
                gl.store(dw_part + (t % NT) * rows_cap + rows, dw)
                tma.store_wait(0)
                mbarrier.arrive(empty.index((it + KI + 3) % S), count=1)
            else:
                drain(full, empty, it, KI + 4, S)
            it += KI + 4


@gluon.jit
def down_grad_kernel(
    dy,
    row_token,
    row_weight,
    w,
    h,
    dh,
    dw_part,
    rows_cap,
    tiles,
    cap,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
    MATH_REGS: gl.constexpr,
    LOAD_REGS: gl.constexpr,
):
    a_bufs = gl.allocate_shared_memory(w.dtype, [S, 128, 64], h.layout)
    b_bufs = gl.allocate_shared_memory(w.dtype, [S, 64, 256], w.layout)
    full, empty = new_barriers(S, True)
    ring = (a_bufs, b_bufs, full, empty)
    gl.warp_specialize(
        [
            (down_grad_math, (0, row_weight, dh, dw_part, rows_cap, tiles, cap, ring, H, I, S)),
            (down_grad_math, (1, row_weight, dh, dw_part, rows_cap, tiles, cap, ring, H, I, S)),
            (down_grad_load, (dy, row_token, w, h, tiles, cap, ring, H, I, S)),
        ],
        [4, 4],
        [MATH_REGS, LOAD_REGS],
    )
