"""F1, Hopper: h = x[token] @ gate_up[e]^T and act = silu(gate) * up * weight, one kernel.

    x         [T, H]            gathered, 16-byte cp.async
    w_desc    [E * 2I, H]       TMA, box [128, 64]
    h_desc    [rows, 2I]        out, box [64, 64]
    a_desc    [rows, I]         out, box [64, 64]

Tile 128 rows x (128 gate | 128 up), the consumers take 64 rows each.
FLOPs 4 * rows * H * I; bytes x + gate_up + rows * 3I elements.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .ring import (
    async_copy,
    drain,
    fence_async_shared,
    halves,
    load_tile,
    mbarrier,
    new_barriers,
    put,
    sigmoid,
    tma,
    wait_empty,
    wait_full,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def gather_rows(x, row_token, row, end, H: gl.constexpr, BK: gl.constexpr, L: gl.constexpr):
    """Pointers [64, BK] to the rows' tokens; rows past the end repeat the expert's last token."""
    rows = row + gl.arange(0, 64, gl.SliceLayout(1, L))
    token = gl.load(row_token + gl.minimum(rows, end - 1))
    return x + token[:, None] * H + gl.arange(0, BK, gl.SliceLayout(0, L))[None, :]


@gluon.jit
def up_load(x, row_token, w_desc, tiles, cap, a_bufs, b_bufs, full, empty, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr):
    BK: gl.constexpr = 64
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    n_tiles = gl.load(tiles + 3 * cap) * (I // 128)
    it = 0
    for t in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        e, row, end = load_tile(tiles, cap, t // (I // 128))
        n0 = (t % (I // 128)) * 128
        wrow = e * (2 * I) + n0
        upper = gather_rows(x, row_token, row, end, H, BK, L)
        lower = gather_rows(x, row_token, row + 64, end, H, BK, L)
        two = row + 64 < end
        for k in range(0, H, BK):
            s = it % S
            wait_empty(empty, it, S)
            mbarrier.expect(full.index(s), 2 * w_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(w_desc, [wrow, k], full.index(s), b_bufs.index(s).slice(0, 128))
            tma.async_copy_global_to_shared(w_desc, [wrow + I, k], full.index(s), b_bufs.index(s).slice(128, 128))
            async_copy.async_copy_global_to_shared(a_bufs.index(2 * s), upper + k)
            if two:
                async_copy.async_copy_global_to_shared(a_bufs.index(2 * s + 1), lower + k)
            async_copy.mbarrier_arrive(full.index(s), increment_count=False)
            it += 1
    async_copy.wait_group(0)


@gluon.jit
def up_math(WG: gl.constexpr, row_weight, h_desc, a_desc, tiles, cap, a_bufs, b_bufs, y_bufs, full, empty, order, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr, SKEW: gl.constexpr):
    KI: gl.constexpr = H // 64
    L: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16])
    n_tiles = gl.load(tiles + 3 * cap) * (I // 128)
    it = 0
    turn = 0
    for t in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
        e, row, end = load_tile(tiles, cap, t // (I // 128))
        n0 = (t % (I // 128)) * 128
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
                acc = warpgroup_mma(a_bufs.index(2 * s + WG), b_bufs.index(s).permute((1, 0)), acc, is_async=True)
                acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc,))
                mbarrier.arrive(empty.index((it + k + S - 1) % S), count=1, pred=k > 0)
                if SKEW > 0 and WG == 0:
                    mbarrier.arrive(order.index(0), count=1, pred=k == SKEW)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
            mbarrier.arrive(empty.index((it + KI + S - 1) % S), count=1)
            gate, up = halves(acc)
            g0, g1 = halves(gate)
            u0, u1 = halves(up)
            rows = row + gl.arange(0, 64, gl.SliceLayout(1, g0.type.layout))
            w = gl.where(rows < end, gl.load(row_weight + gl.minimum(rows, end - 1)), 0.0)
            y0 = y_bufs.index(2 * WG)
            y1 = y_bufs.index(2 * WG + 1)
            DT: gl.constexpr = h_desc.dtype
            put(h_desc, y0, g0.to(DT), row, n0)
            put(h_desc, y1, u0.to(DT), row, I + n0)
            put(a_desc, y0, (g0 * sigmoid(g0) * u0 * w[:, None]).to(DT), row, n0)
            put(h_desc, y1, g1.to(DT), row, n0 + 64)
            put(h_desc, y0, u1.to(DT), row, I + n0 + 64)
            put(a_desc, y1, (g1 * sigmoid(g1) * u1 * w[:, None]).to(DT), row, n0 + 64)
        else:
            drain(full, empty, it, KI, S)
        it += KI
    tma.store_wait(0)


@gluon.jit
def up_kernel(x, row_token, row_weight, w_desc, h_desc, a_desc, tiles, cap, H: gl.constexpr, I: gl.constexpr, S: gl.constexpr, SKEW: gl.constexpr, MATH_REGS: gl.constexpr, LOAD_REGS: gl.constexpr):
    a_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], w_desc.dtype)
    a_bufs = gl.allocate_shared_memory(w_desc.dtype, [2 * S, 64, 64], a_layout)
    b_bufs = gl.allocate_shared_memory(w_desc.dtype, [S, 256, 64], w_desc.layout)
    y_bufs = gl.allocate_shared_memory(h_desc.dtype, [4, 64, 64], h_desc.layout)
    full, empty = new_barriers(S, 129)
    order = gl.allocate_shared_memory(gl.int64, [1, 1], mbarrier.MBarrierLayout())
    mbarrier.init(order.index(0), count=1)
    gl.warp_specialize([
        (up_math, (0, row_weight, h_desc, a_desc, tiles, cap, a_bufs, b_bufs, y_bufs, full, empty, order, H, I, S, SKEW)),
        (up_math, (1, row_weight, h_desc, a_desc, tiles, cap, a_bufs, b_bufs, y_bufs, full, empty, order, H, I, S, SKEW)),
        (up_load, (x, row_token, w_desc, tiles, cap, a_bufs, b_bufs, full, empty, H, I, S)),
    ], [4, 4], [MATH_REGS, LOAD_REGS])
