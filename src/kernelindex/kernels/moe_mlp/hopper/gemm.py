"""F2 and B2, Hopper: y = a @ w[e] (or its transpose) over rows sorted by expert.

    a    [rows, K]               TMA, box [128, 64]
    w    [E * N, K] if TRANS     TMA, box [256, 64]
         [E * K, N] otherwise    TMA, box [64, 256]
    y    [rows, N]               out, box [64, 64]

Tile 128 x 256, the consumers take 64 rows each; a consumer keeps its finished tile as 16-bit
registers and writes it out under the next tile's first product.
FLOPs 2 * rows * N * K; bytes (rows * K + E * N * K + rows * N) elements.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.extra.cuda import gdc_wait

from .chain import await_pieces, new_queue, receive, take
from .ring import (
    drain,
    load_parts,
    load_tile,
    mbarrier,
    new_barriers,
    put_row,
    quarters,
    slot_at,
    tma,
    wait_empty,
    wait_full,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def gemm_fill(
    it,
    a,
    w,
    row,
    e,
    n0,
    ring,
    N: gl.constexpr,
    K: gl.constexpr,
    S: gl.constexpr,
    TRANS: gl.constexpr,
):
    """Fills the stages of one tile; the next stage's number."""
    a_bufs, b_bufs, full, empty = ring
    for k in range(0, K, 64):
        s = it % S
        bar = full.index(s)
        wait_empty(empty, it, S)
        mbarrier.expect(bar, a.block_type.nbytes + w.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [row, k], bar, a_bufs.index(s))
        if TRANS:
            tma.async_copy_global_to_shared(w, [e * N + n0, k], bar, b_bufs.index(s))
        else:
            tma.async_copy_global_to_shared(w, [e * K + k, n0], bar, b_bufs.index(s))
        it += 1
    return it


@gluon.jit
def gemm_load(
    a,
    w,
    tiles,
    cap,
    done,
    queue,
    ring,
    N: gl.constexpr,
    K: gl.constexpr,
    S: gl.constexpr,
    TRANS: gl.constexpr,
    CHAINED: gl.constexpr,
):
    NT: gl.constexpr = N // 256
    n_items = gl.load(tiles + 6 * cap) * NT
    counter = tiles + 6 * cap + 1
    t = take(counter, queue, 0) if CHAINED else gl.program_id(0)
    e1, row1, _end = load_tile(tiles, cap, slot_at(t, n_items, NT), 0)
    it = 0
    i = 1
    while t < n_items:
        e, row = e1, row1
        parts = load_parts(tiles, cap, t // NT)
        n0 = (t % NT) * 256
        after = take(counter, queue, i) if CHAINED else t + gl.num_programs(0)
        e1, row1, _end = load_tile(tiles, cap, slot_at(after, n_items, NT), 0)
        if CHAINED:
            await_pieces(done, t // NT, K // 64)
        it = gemm_fill(it, a, w, row, e, n0, ring, N, K, S, TRANS)
        if parts > 1:
            e, row, _end = load_tile(tiles, cap, t // NT, 1)
            it = gemm_fill(it, a, w, row, e, n0, ring, N, K, S, TRANS)
        t = after
        i += 1


@gluon.jit
def gemm_step(acc, ring, it, S: gl.constexpr, WG: gl.constexpr, TRANS: gl.constexpr):
    """Issues the product of one stage and waits for the one before."""
    a_bufs, b_bufs, full, _empty = ring
    wait_full(full, it, S)
    a = a_bufs.index(it % S).slice(WG * 64, 64)
    b = b_bufs.index(it % S)
    if TRANS:
        b = b.permute((1, 0))
    acc = warpgroup_mma(a, b, acc, is_async=True)
    return warpgroup_mma_wait(num_outstanding=1, deps=(acc,))


@gluon.jit
def gemm_math(
    WG: gl.constexpr,
    y,
    tiles,
    cap,
    queue,
    ring,
    y_bufs,
    N: gl.constexpr,
    K: gl.constexpr,
    S: gl.constexpr,
    TRANS: gl.constexpr,
    CHAINED: gl.constexpr,
):
    _a_bufs, _b_bufs, full, empty = ring
    KI: gl.constexpr = K // 64
    NT: gl.constexpr = N // 256
    DT: gl.constexpr = y.dtype
    L: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16]
    )
    n_items = gl.load(tiles + 6 * cap) * NT
    p0, p1, p2, p3 = quarters(gl.zeros([64, 256], DT, L))
    it = 0
    old_row = -1
    old_col = 0
    t = receive(queue, 0) if CHAINED else gl.program_id(0)
    i = 1
    while t < n_items:
        for part in range(load_parts(tiles, cap, t // NT)):
            _e, row, end = load_tile(tiles, cap, t // NT, part)
            row += WG * 64
            if row < end:
                acc = gemm_step(gl.zeros([64, 256], gl.float32, L), ring, it, S, WG, TRANS)
                if old_row >= 0:
                    put_row(y, y_bufs, WG, (p0, p1, p2, p3), old_row, old_col)
                for k in range(1, KI):
                    acc = gemm_step(acc, ring, it + k, S, WG, TRANS)
                    mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1)
                acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
                mbarrier.arrive(empty.index((it + KI + S - 1) % S), count=1)
                p0, p1, p2, p3 = quarters(acc.to(DT))
                old_row = row
                old_col = (t % NT) * 256
            else:
                drain(full, empty, it, KI, S)
            it += KI
        t = receive(queue, i) if CHAINED else t + gl.num_programs(0)
        i += 1
    if old_row >= 0:
        put_row(y, y_bufs, WG, (p0, p1, p2, p3), old_row, old_col)
    tma.store_wait(0)


@gluon.jit
def gemm_kernel(
    a,
    w,
    y,
    tiles,
    cap,
    done,
    N: gl.constexpr,
    K: gl.constexpr,
    S: gl.constexpr,
    TRANS: gl.constexpr,
    CHAINED: gl.constexpr,
    MATH_REGS: gl.constexpr,
    LOAD_REGS: gl.constexpr,
):
    b_shape: gl.constexpr = [S, 256, 64] if TRANS else [S, 64, 256]
    a_bufs = gl.allocate_shared_memory(a.dtype, [S, 128, 64], a.layout)
    b_bufs = gl.allocate_shared_memory(w.dtype, b_shape, w.layout)
    y_bufs = gl.allocate_shared_memory(y.dtype, [4, 64, 64], y.layout)
    full, empty = new_barriers(S, False)
    ring = (a_bufs, b_bufs, full, empty)
    queue = new_queue()
    if CHAINED:
        # F1 read what F0 wrote before it counted a piece, so F0's tables can be read after that.
        await_pieces(done, 0, K // 64)
    gl.warp_specialize(
        [
            (gemm_math, (0, y, tiles, cap, queue, ring, y_bufs, N, K, S, TRANS, CHAINED)),
            (gemm_math, (1, y, tiles, cap, queue, ring, y_bufs, N, K, S, TRANS, CHAINED)),
            (gemm_load, (a, w, tiles, cap, done, queue, ring, N, K, S, TRANS, CHAINED)),
        ],
        [4, 4],
        [MATH_REGS, LOAD_REGS],
    )
    if CHAINED:
        gdc_wait()  # the next kernel waits for this one alone: F1 is over too by then
