"""What the warp-specialised Hopper kernels share: the operand ring, tiles and cheap device maths.

Every kernel has two consumer warpgroups and one producer. The producer fills a ring of S stages; a
stage holds a slice of operand A and one of operand B, `full` says that it may be read, `empty` that
both consumers are done with it. Operands arrive by TMA, or, for gathered rows, by 16-byte cp.async.

    tiles       int32 [6 * cap + 1]  expert, first row, end row of each slot's tile; the same of a
                                     half tile that shares it, end 0 for none; number of slots
    row_token   int32 [rows]         token of a sorted row
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

__all__ = [
    "async_copy",
    "fence_async_shared",
    "mbarrier",
    "tma",
    "warpgroup_mma",
    "warpgroup_mma_wait",
]


@gluon.jit
def sigmoid(x):
    # 4 instructions, 2 of them on the special-function unit, at most 2 ulp off. The operators
    # 1 / (1 + exp(-x)) compile to about twice as many (range checks for denormals).
    return gl.inline_asm_elementwise(
        """{
        .reg .f32 t;
        mul.f32 t, $1, 0fBFB8AA3B;
        ex2.approx.ftz.f32 t, t;
        add.f32 t, t, 0f3F800000;
        rcp.approx.ftz.f32 $0, t;
        }""",
        "=f,f",
        [x],
        dtype=gl.float32,
        is_pure=True,
        pack=1,
    )


@gluon.jit
def new_barriers(S: gl.constexpr, GATHERED: gl.constexpr):
    """`full` takes TMA's arrival and one of each gathering thread, `empty` one of each consumer."""
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=129 if GATHERED else 1)
        mbarrier.init(empty.index(i), count=2)
    return full, empty


@gluon.jit
def load_tile(tiles, cap, slot, part):
    """Expert, first row and end row of a slot's tile (part 0) or of its second half tile (1)."""
    p = tiles + part * 3 * cap + slot
    return gl.load(p), gl.load(p + cap), gl.load(p + 2 * cap)


@gluon.jit
def load_parts(tiles, cap, slot):
    """How many tiles a slot holds: 2 for two half tiles, else 1.

    To be read where it is used: Triton 3.6 lost this value when it was carried from one iteration
    of a loop to the next as the bound of an inner loop.
    """
    return gl.where(gl.load(tiles + 5 * cap + slot) > 0, 2, 1)


@gluon.jit
def slot_at(t, n_items, NT: gl.constexpr):
    """The slot of work item `t`, or of the last one: producers read ahead."""
    return gl.minimum(t, n_items - 1) // NT


@gluon.jit
def load_tokens(row_token, row, end, L: gl.constexpr):
    """Tokens of 64 + 64 rows; rows past the end repeat the expert's last token.

    Read one work item ahead: waiting for the tile, then the tokens, then the copies emptied the
    ring at every tile (F1 0.641 ms, read ahead 0.614).
    """
    rows = row + gl.arange(0, 64, gl.SliceLayout(1, L))
    upper = gl.load(row_token + gl.minimum(rows, end - 1))
    return upper, gl.load(row_token + gl.minimum(rows + 64, end - 1))


@gluon.jit
def publish(full, it, S: gl.constexpr):
    """The stage counts as full once this thread's cp.async copies, and all TMA copies, have landed.

    cp.async writes through the generic proxy and wgmma reads through the async one: `wait_gathered`
    has the proxy fence that must lie between them. Waiting for the copies here, fencing and then
    arriving two stages late was equally correct and slower: F1 0.633 against 0.632 ms, B1 0.393
    against 0.385, B4 0.303 against 0.297, B5 0.595 against 0.585.
    """
    async_copy.mbarrier_arrive(full.index(it % S), increment_count=False)


@gluon.jit
def wait_gathered(full, it, S: gl.constexpr):
    """Waits for a stage filled by cp.async, then fences its writes against the async proxy."""
    wait_full(full, it, S)
    fence_async_shared()


@gluon.jit
def wait_empty(empty, it, S: gl.constexpr):
    mbarrier.wait(empty.index(it % S), ((it // S) & 1) ^ 1)


@gluon.jit
def wait_full(full, it, S: gl.constexpr):
    mbarrier.wait(full.index(it % S), (it // S) & 1)


@gluon.jit
def drain(full, empty, it, n, S: gl.constexpr):
    """A consumer without rows in this tile passes its `n` stages on unread."""
    for k in range(n):
        wait_full(full, it + k, S)
        mbarrier.arrive(empty.index((it + k) % S), count=1)


@gluon.jit
def halves(x):
    """The left and the right half of the columns of x [M, N]; registers only."""
    M: gl.constexpr = x.shape[0]
    N: gl.constexpr = x.shape[1]
    return x.reshape([M, 2, N // 2]).permute([0, 2, 1]).split()


@gluon.jit
def quarters(x):
    """The four quarters of the columns of x [M, N], left to right; registers only."""
    left, right = halves(x)
    a, b = halves(left)
    c, d = halves(right)
    return a, b, c, d


@gluon.jit
def put(desc, buf, value, row, col):
    """Writes one tile out through `buf`, one of two in turn: the copy before the last is done."""
    tma.store_wait(1)
    buf.store(value)
    fence_async_shared()
    tma.async_copy_shared_to_global(desc, [row, col], buf)


@gluon.jit
def put_row(desc, y_bufs, WG: gl.constexpr, values, row, col):
    """Writes four [64, 64] pieces side by side through the consumer's two buffers."""
    p0, p1, p2, p3 = values
    put(desc, y_bufs.index(2 * WG), p0, row, col)
    put(desc, y_bufs.index(2 * WG + 1), p1, row, col + 64)
    put(desc, y_bufs.index(2 * WG), p2, row, col + 128)
    put(desc, y_bufs.index(2 * WG + 1), p3, row, col + 192)


@gluon.jit
def put_column(desc, y_bufs, WG: gl.constexpr, values, row, col):
    """Writes four [64, 64] pieces transposed, one below the other."""
    p0, p1, p2, p3 = values
    put_flipped(desc, y_bufs.index(2 * WG), p0, row, col)
    put_flipped(desc, y_bufs.index(2 * WG + 1), p1, row + 64, col)
    put_flipped(desc, y_bufs.index(2 * WG), p2, row + 128, col)
    put_flipped(desc, y_bufs.index(2 * WG + 1), p3, row + 192, col)


@gluon.jit
def put_flipped(desc, buf, value, row, col):
    """`put` of the transposed tile (stmatrix.trans)."""
    tma.store_wait(1)
    buf.permute((1, 0)).store(value)
    fence_async_shared()
    tma.async_copy_shared_to_global(desc, [row, col], buf)
