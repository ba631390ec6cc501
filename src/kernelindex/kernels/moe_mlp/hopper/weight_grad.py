"""B4 and B5, Hopper: out[e] = a^T @ b over the rows of expert e, one operand gathered.

    GATHER_A   a [T, M] gathered, b_desc [rows, N] TMA box [64, 256]; tile 128 x 256  (B4: dy, act)
    otherwise  a_desc [rows, M] TMA box [64, 128], b [T, N] gathered; tile 256 x 128  (B5: dh, x)
    out_desc   [E * M, N]   out, box [64, 64]
    bounds     int32 [2, E] first and end row of each expert

The gathered operand is always the 128-wide one: cp.async fills shared memory at half of TMA's rate.
Each output tile is written once; an expert without rows gets zeros from the empty sum.
FLOPs 2 * rows * M * N; bytes (rows * (M + N) + E * M * N) elements.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .ring import (
    async_copy,
    fence_async_shared,
    halves,
    mbarrier,
    new_barriers,
    put,
    quarters,
    tma,
    wait_empty,
    wait_full,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def split_tile(bounds, t, E: gl.constexpr, MT: gl.constexpr, NT: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr):
    """Expert, its rows, and the tile's first row and column in the output."""
    e = gl.minimum(t // (MT * NT), E - 1)
    q = t % (MT * NT)
    return e, gl.load(bounds + e), gl.load(bounds + E + e), (q // NT) * BM, (q % NT) * BN


@gluon.jit
def load_step(row_token, k, end, rr):
    """Tokens of 64 rows from k on; past the end the last one, for no rows at all any valid one."""
    return gl.load(row_token + gl.maximum(gl.minimum(k + rr, end - 1), 0))


@gluon.jit
def weight_grad_load(gathered, row_token, dense_desc, bounds, g_bufs, d_bufs, full, empty, E: gl.constexpr, M: gl.constexpr, N: gl.constexpr, S: gl.constexpr, GATHER_A: gl.constexpr):
    BM: gl.constexpr = 128 if GATHER_A else 256
    BN: gl.constexpr = 256 if GATHER_A else 128
    W: gl.constexpr = M if GATHER_A else N
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    rr = gl.arange(0, 64, gl.SliceLayout(1, L))
    cc = gl.arange(0, 64, gl.SliceLayout(0, L))
    total = E * (M // BM) * (N // BN)
    step = gl.num_programs(0)
    t0 = gl.program_id(0)
    e, first, end, m0, n0 = split_tile(bounds, t0, E, M // BM, N // BN, BM, BN)
    e, first1, end1, m1, n1 = split_tile(bounds, t0 + step, E, M // BM, N // BN, BM, BN)
    token = load_step(row_token, first, end, rr)
    it = 0
    for t in range(t0, total, step):
        # Tokens are read a stage ahead and bounds two tiles ahead: where they were read in place, the
        # producer took longer than a stage and B4 ran at 560 TFLOP/s.
        head = load_step(row_token, first1, end1, rr)
        e, first2, end2, m2, n2 = split_tile(bounds, t + 2 * step, E, M // BM, N // BN, BM, BN)
        base = gathered + (m0 if GATHER_A else n0)
        for k in range(first, end, 64):
            s = it % S
            p = base + token[:, None] * W + cc[None, :]
            token = load_step(row_token, k + 64, end, rr)
            wait_empty(empty, it, S)
            mbarrier.expect(full.index(s), 512 * 64)
            if GATHER_A:
                tma.async_copy_global_to_shared(dense_desc, [k, n0], full.index(s), d_bufs.index(s))
            else:
                tma.async_copy_global_to_shared(dense_desc, [k, m0], full.index(s), d_bufs.index(2 * s))
                tma.async_copy_global_to_shared(dense_desc, [k, m0 + 128], full.index(s), d_bufs.index(2 * s + 1))
            if GATHER_A:
                async_copy.async_copy_global_to_shared(g_bufs.index(2 * s), p)
                async_copy.async_copy_global_to_shared(g_bufs.index(2 * s + 1), p + 64)
            else:
                async_copy.async_copy_global_to_shared(g_bufs.index(s).slice(0, 64, dim=1), p)
                async_copy.async_copy_global_to_shared(g_bufs.index(s).slice(64, 64, dim=1), p + 64)
            async_copy.mbarrier_arrive(full.index(s), increment_count=False)
            it += 1
        token = head
        first, end, m0, n0 = first1, end1, m1, n1
        first1, end1, m1, n1 = first2, end2, m2, n2
    async_copy.wait_group(0)


@gluon.jit
def weight_grad_step(acc, g_bufs, d_bufs, full, it, S: gl.constexpr, WG: gl.constexpr, GATHER_A: gl.constexpr):
    """Issues the product of one stage of 64 rows and waits for the one before."""
    s = it % S
    wait_full(full, it, S)
    fence_async_shared()
    if GATHER_A:
        acc = warpgroup_mma(g_bufs.index(2 * s + WG).permute((1, 0)), d_bufs.index(s), acc, is_async=True)
    else:
        acc = warpgroup_mma(d_bufs.index(2 * s + WG).permute((1, 0)), g_bufs.index(s), acc, is_async=True)
    return warpgroup_mma_wait(num_outstanding=1, deps=(acc,))


@gluon.jit
def pieces(acc, GATHER_A: gl.constexpr):
    """The consumer's tile as four [64, 64] pieces: side by side, or two by two."""
    if GATHER_A:
        return quarters(acc)
    else:
        upper, lower = acc.reshape([2, 64, 128]).permute([1, 2, 0]).split()
        a, b = halves(upper)
        c, d = halves(lower)
        return a, b, c, d


@gluon.jit
def put_tile(out_desc, y_bufs, WG: gl.constexpr, p0, p1, p2, p3, row, col, GATHER_A: gl.constexpr):
    put(out_desc, y_bufs.index(2 * WG), p0, row, col)
    put(out_desc, y_bufs.index(2 * WG + 1), p1, row, col + 64)
    if GATHER_A:
        put(out_desc, y_bufs.index(2 * WG), p2, row, col + 128)
        put(out_desc, y_bufs.index(2 * WG + 1), p3, row, col + 192)
    else:
        put(out_desc, y_bufs.index(2 * WG), p2, row + 64, col)
        put(out_desc, y_bufs.index(2 * WG + 1), p3, row + 64, col + 64)


@gluon.jit
def weight_grad_math(WG: gl.constexpr, out_desc, bounds, g_bufs, d_bufs, y_bufs, full, empty, E: gl.constexpr, M: gl.constexpr, N: gl.constexpr, S: gl.constexpr, GATHER_A: gl.constexpr, DEFER: gl.constexpr):
    BM: gl.constexpr = 128 if GATHER_A else 256
    BN: gl.constexpr = 256 if GATHER_A else 128
    DT: gl.constexpr = out_desc.dtype
    L: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, BN, 16])
    it = 0
    old_row = -1
    old_col = 0
    p0, p1, p2, p3 = pieces(gl.zeros([BM // 2, BN], DT, L), GATHER_A)
    for t in range(gl.program_id(0), E * (M // BM) * (N // BN), gl.num_programs(0)):
        e, first, end, m0, n0 = split_tile(bounds, t, E, M // BM, N // BN, BM, BN)
        steps = (end - first + 63) // 64
        acc = gl.zeros([BM // 2, BN], gl.float32, L)
        if steps > 0:
            acc = weight_grad_step(acc, g_bufs, d_bufs, full, it, S, WG, GATHER_A)
            if DEFER:
                if old_row >= 0:
                    put_tile(out_desc, y_bufs, WG, p0, p1, p2, p3, old_row, old_col, GATHER_A)
            for k in range(1, steps):
                acc = weight_grad_step(acc, g_bufs, d_bufs, full, it + k, S, WG, GATHER_A)
                mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
            it += steps
            mbarrier.arrive(empty.index((it + S - 1) % S), count=1)
        else:
            if DEFER:
                if old_row >= 0:
                    put_tile(out_desc, y_bufs, WG, p0, p1, p2, p3, old_row, old_col, GATHER_A)
        p0, p1, p2, p3 = pieces(acc.to(DT), GATHER_A)
        old_row = e * M + m0 + WG * (BM // 2)
        old_col = n0
        if not DEFER:
            put_tile(out_desc, y_bufs, WG, p0, p1, p2, p3, old_row, old_col, GATHER_A)
    if DEFER:
        if old_row >= 0:
            put_tile(out_desc, y_bufs, WG, p0, p1, p2, p3, old_row, old_col, GATHER_A)
    tma.store_wait(0)


@gluon.jit
def weight_grad_kernel(gathered, row_token, dense_desc, out_desc, bounds, E: gl.constexpr, M: gl.constexpr, N: gl.constexpr, S: gl.constexpr, GATHER_A: gl.constexpr, DEFER: gl.constexpr, MATH_REGS: gl.constexpr, LOAD_REGS: gl.constexpr):
    DT: gl.constexpr = dense_desc.dtype
    narrow: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], DT)
    wide: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], DT)
    g_bufs = gl.allocate_shared_memory(DT, [2 * S, 64, 64] if GATHER_A else [S, 64, 128], narrow if GATHER_A else wide)
    d_bufs = gl.allocate_shared_memory(DT, [S, 64, 256] if GATHER_A else [2 * S, 64, 128], dense_desc.layout)
    y_bufs = gl.allocate_shared_memory(DT, [4, 64, 64], out_desc.layout)
    full, empty = new_barriers(S, 129)
    gl.warp_specialize([
        (weight_grad_math, (0, out_desc, bounds, g_bufs, d_bufs, y_bufs, full, empty, E, M, N, S, GATHER_A, DEFER)),
        (weight_grad_math, (1, out_desc, bounds, g_bufs, d_bufs, y_bufs, full, empty, E, M, N, S, GATHER_A, DEFER)),
        (weight_grad_load, (gathered, row_token, dense_desc, bounds, g_bufs, d_bufs, full, empty, E, M, N, S, GATHER_A)),
    ], [4, 4], [MATH_REGS, LOAD_REGS])
