"""B1, Hopper: gradient of the up projection's output and of the router weights, one kernel.

    da = dy[token] @ down[e], then with gate and up read back
    dgate = da * w * up * silu'(gate)    dup = da * w * silu(gate)    dw = sum(da * silu(gate) * up)

    dy        [T, H]        gathered, 16-byte cp.async
    w_desc    [E * H, I]    TMA, box [64, 256]
    h_desc    [rows, 2I]    TMA, box [128, 64]
    dh_desc   [rows, 2I]    out, box [64, 64]
    dw_part   fp32 [I / 256, rows]   out: partial sums, added up in a fixed order later

Tile 128 x 256, the consumers take 64 rows each. The ring carries H / 64 operand stages and then four
stages of 64 gate and 64 up columns, so gate and up are on their way while the products run; their
gradients replace them in the stage and leave from there.
FLOPs 2 * rows * H * I; bytes dy + down + rows * 4I elements.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .ring import (
    async_copy,
    drain,
    fence_async_shared,
    load_tile,
    load_tile_at,
    load_tokens,
    mbarrier,
    new_barriers,
    quarters,
    sigmoid,
    tma,
    wait_empty,
    wait_full,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def down_grad_load(
    dy,
    row_token,
    w_desc,
    h_desc,
    tiles,
    cap,
    a_bufs,
    b_bufs,
    full,
    empty,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    NT: gl.constexpr = I // 256
    n_tiles = gl.load(tiles + 3 * cap) * NT
    step = gl.num_programs(0)
    first = gl.program_id(0)
    columns = gl.arange(0, 64, gl.SliceLayout(0, L))[None, :]
    e1, row1, end1 = load_tile_at(tiles, cap, first, n_tiles, NT)
    e2, row2, end2 = load_tile_at(tiles, cap, first + step, n_tiles, NT)
    upper, lower = load_tokens(row_token, row1, end1, L)
    it = 0
    for t in range(first, n_tiles, step):
        e, row, end = e1, row1, end1
        n0 = (t % NT) * 256
        p0 = dy + upper[:, None] * H + columns
        p1 = dy + lower[:, None] * H + columns
        two = row + 64 < end
        e1, row1, end1 = e2, row2, end2
        upper, lower = load_tokens(row_token, row1, end1, L)
        e2, row2, end2 = load_tile_at(tiles, cap, t + 2 * step, n_tiles, NT)
        for k in range(0, H, 64):
            s = it % S
            wait_empty(empty, it, S)
            mbarrier.expect(full.index(s), w_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(w_desc, [e * H + k, n0], full.index(s), b_bufs.index(s))
            async_copy.async_copy_global_to_shared(a_bufs.index(s).slice(0, 64), p0 + k)
            if two:
                async_copy.async_copy_global_to_shared(a_bufs.index(s).slice(64, 64), p1 + k)
            async_copy.mbarrier_arrive(full.index(s), increment_count=False)
            it += 1
        for q in gl.static_range(4):
            s = it % S
            wait_empty(empty, it, S)
            mbarrier.expect(full.index(s), 2 * h_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(
                h_desc, [row, n0 + q * 64], full.index(s), a_bufs.index(s)
            )
            up = b_bufs.index(s)._reinterpret(h_desc.dtype, [256, 64], h_desc.layout).slice(0, 128)
            tma.async_copy_global_to_shared(h_desc, [row, I + n0 + q * 64], full.index(s), up)
            async_copy.mbarrier_arrive(full.index(s), increment_count=False)
            it += 1
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
    return dw


@gluon.jit
def down_grad_math(
    WG: gl.constexpr,
    row_weight,
    dh_desc,
    dw_part,
    rows_cap,
    tiles,
    cap,
    a_bufs,
    b_bufs,
    full,
    empty,
    order,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
    SKEW: gl.constexpr,
):
    KI: gl.constexpr = H // 64
    NT: gl.constexpr = I // 256
    L: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16]
    )
    n_tiles = gl.load(tiles + 3 * cap) * NT
    it = 0
    turn = 0
    for t in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        e, row, end = load_tile(tiles, cap, t // NT)
        n0 = (t % NT) * 256
        row += WG * 64
        if SKEW > 0 and WG == 1:
            mbarrier.wait(order.index(0), turn & 1)
        turn += 1
        if row < end:
            acc = gl.zeros([64, 256], gl.float32, L)
            for k in range(KI):
                s = (it + k) % S
                wait_full(full, it + k, S)
                fence_async_shared()
                acc = warpgroup_mma(
                    a_bufs.index(s).slice(WG * 64, 64), b_bufs.index(s), acc, is_async=True
                )
                acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc,))
                mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1, pred=k > 0)
                if SKEW > 0 and WG == 0:
                    mbarrier.arrive(order.index(0), count=1, pred=k == SKEW)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
            mbarrier.arrive(empty.index((it + KI + S - 1) % S), count=1)
            rows = row + gl.arange(0, 64, gl.SliceLayout(1, L))
            w = gl.where(rows < end, gl.load(row_weight + gl.minimum(rows, end - 1)), 0.0)
            das = quarters(acc)
            dw = gl.zeros([64], gl.float32, gl.SliceLayout(1, L))
            for q in gl.static_range(4):
                s = (it + KI + q) % S
                wait_full(full, it + KI + q, S)
                gate_buf = a_bufs.index(s).slice(WG * 64, 64)
                up_buf = (
                    b_bufs.index(s)
                    ._reinterpret(dh_desc.dtype, [256, 64], dh_desc.layout)
                    .slice(WG * 64, 64)
                )
                dw += gl.convert_layout(
                    swiglu_grad(das[q], w, gate_buf, up_buf), gl.SliceLayout(1, L)
                )
                fence_async_shared()
                tma.async_copy_shared_to_global(dh_desc, [row, n0 + q * 64], gate_buf)
                tma.async_copy_shared_to_global(dh_desc, [row, I + n0 + q * 64], up_buf)
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
    w_desc,
    h_desc,
    dh_desc,
    dw_part,
    rows_cap,
    tiles,
    cap,
    H: gl.constexpr,
    I: gl.constexpr,
    S: gl.constexpr,
    SKEW: gl.constexpr,
    MATH_REGS: gl.constexpr,
    LOAD_REGS: gl.constexpr,
):
    a_bufs = gl.allocate_shared_memory(w_desc.dtype, [S, 128, 64], h_desc.layout)
    b_bufs = gl.allocate_shared_memory(w_desc.dtype, [S, 64, 256], w_desc.layout)
    full, empty = new_barriers(S, 129)
    order = gl.allocate_shared_memory(gl.int64, [1, 1], mbarrier.MBarrierLayout())
    mbarrier.init(order.index(0), count=1)
    gl.warp_specialize(
        [
            (
                down_grad_math,
                (
                    0,
                    row_weight,
                    dh_desc,
                    dw_part,
                    rows_cap,
                    tiles,
                    cap,
                    a_bufs,
                    b_bufs,
                    full,
                    empty,
                    order,
                    H,
                    I,
                    S,
                    SKEW,
                ),
            ),
            (
                down_grad_math,
                (
                    1,
                    row_weight,
                    dh_desc,
                    dw_part,
                    rows_cap,
                    tiles,
                    cap,
                    a_bufs,
                    b_bufs,
                    full,
                    empty,
                    order,
                    H,
                    I,
                    S,
                    SKEW,
                ),
            ),
            (
                down_grad_load,
                (dy, row_token, w_desc, h_desc, tiles, cap, a_bufs, b_bufs, full, empty, H, I, S),
            ),
        ],
        [4, 4],
        [MATH_REGS, LOAD_REGS],
    )
