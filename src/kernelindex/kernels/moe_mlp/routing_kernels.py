"""F0's device code, plain Triton: integer sums in a fixed order, no atomics.

A pair whose index is outside [0, E) has no expert: it gets no row, and `slot_row` is -1.
"""

import triton
import triton.language as tl

NEVER_WAITED_FOR = tl.constexpr(1 << 30)  # more pieces than any slot has


@triton.jit
def _load_expert(index, i, mask, E: tl.constexpr):
    """The expert of each pair, -1 where it has none; compared before 64 bits become 32."""
    e = tl.load(index + i, mask=mask, other=-1)
    return tl.where((e >= 0) & (e < E), e, -1).to(tl.int32)


@triton.jit
def _rank(e, ex, run):
    """Rank of each pair among its expert's pairs so far, and the counts after them."""
    hot = (e[:, None] == ex[None, :]).to(tl.int32)
    rank = tl.sum(hot * (tl.cumsum(hot, 0) - 1 + run[None, :]), 1)
    return rank, run + tl.sum(hot, 0)


@triton.jit
def _pick(e, ex, values):
    """values[e] for a vector of experts."""
    return tl.sum(tl.where(e[:, None] == ex[None, :], values[None, :], 0), 1)


@triton.jit
def _place(i, mask, e, rank, base, weights, row_token, row_weight, slot_row, top_k):
    """Writes the row of each pair, and the pair's token and weight at that row."""
    row = rank + tl.gather(base, tl.maximum(e, 0), 0)
    tl.store(slot_row + i, tl.where(e >= 0, row, -1), mask=mask)
    mask &= e >= 0
    tl.store(row_token + row, i // top_k, mask=mask)
    tl.store(row_weight + row, tl.load(weights + i, mask=mask, other=0.0).to(tl.float32), mask=mask)


@triton.jit
def _list_tiles(
    tiles, done, cap, total, start, ex, first, stride, BM: tl.constexpr, ALIGN: tl.constexpr
):
    """Writes the tiles this program owns, `[A | B]`; B is the second half tile of a slot, if any.

    With segments of half tiles, an expert's last tile can be a half one. Two of them, of
    neighbouring experts that have one, share a slot: persistent programs take slots in turn, and
    a half tile in a slot of its own left them unequal (B1: 13 rounds for 12.0 tiles of work).
    """
    units = (total + ALIGN - 1) // ALIGN
    whole = units // (BM // ALIGN)
    half = units % (BM // ALIGN)
    earlier = tl.cumsum(half, 0) - half
    halves = tl.sum(half, 0)
    own = (half > 0) & ((earlier % 2 == 1) | (earlier == halves - 1))
    slots = whole + own.to(tl.int32)
    last = tl.cumsum(slots, 0)
    n = tl.sum(slots, 0)
    for j0 in range(first, cap, stride):
        j = j0 + tl.arange(0, 16)
        e = tl.sum((last[None, :] <= j[:, None]).to(tl.int32), 1)
        q = j - _pick(e, ex, last - slots)
        row = _pick(e, ex, start) + q * BM
        before = (ex[None, :] < e[:, None]) & (half[None, :] > 0)
        partner = tl.max(tl.where(before, ex[None, :], -1), 1)
        paired = (q == _pick(e, ex, whole)) & (_pick(e, ex, earlier) % 2 == 1)
        _store_tile(tiles, cap, j, j < n, e, row, _pick(e, ex, start + total))
        row = _pick(partner, ex, start + whole * BM)
        end = tl.where(paired, _pick(partner, ex, start + total), 0)
        _store_tile(tiles + 3 * cap, cap, j, j < n, partner, row, end)
        # F2's programs first wait for slot 0: without any slot there is nothing to wait for.
        tl.store(done + j, tl.where(j < n, 0, NEVER_WAITED_FOR))
    return n


@triton.jit
def _store_tile(tiles, cap, j, mask, e, row, end):
    tl.store(tiles + j, e, mask=mask)
    tl.store(tiles + cap + j, row, mask=mask)
    tl.store(tiles + 2 * cap + j, end, mask=mask)


@triton.jit
def count_kernel(
    index,
    rank,
    count,
    slots,
    CHUNK: tl.constexpr,
    STEP: tl.constexpr,
    E: tl.constexpr,
    EP: tl.constexpr,
):
    """Each chunk's pairs by expert, and every pair's rank inside its chunk."""
    pid = tl.program_id(0)
    ex = tl.arange(0, EP)
    run = tl.zeros((EP,), tl.int32)
    for s in range(0, CHUNK, STEP):
        i = pid * CHUNK + s + tl.arange(0, STEP)
        mask = i < slots
        e = _load_expert(index, i, mask, E)
        r, run = _rank(e, ex, run)
        tl.store(rank + i, r, mask=mask)
    tl.store(count + pid * EP + ex, run)


@triton.jit
def place_kernel(
    index,
    weights,
    rank,
    count,
    row_token,
    row_weight,
    slot_row,
    tiles,
    done,
    bounds,
    slots,
    top_k,
    cap,
    chunks,
    CHUNK: tl.constexpr,
    E: tl.constexpr,
    EP: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    ALIGN: tl.constexpr,
):
    """Sums the chunks' counts, then places this chunk's pairs and lists this chunk's tiles."""
    pid = tl.program_id(0)
    ex = tl.arange(0, EP)
    total = tl.zeros((EP,), tl.int32)
    before = tl.zeros((EP,), tl.int32)
    for c0 in range(0, chunks, 32):
        c = c0 + tl.arange(0, 32)
        v = tl.load(count + c[:, None] * EP + ex[None, :], mask=(c < chunks)[:, None], other=0)
        total += tl.sum(v, 0)
        before += tl.sum(tl.where((c < pid)[:, None], v, 0), 0)
    padded = (total + ALIGN - 1) // ALIGN * ALIGN
    start = tl.cumsum(padded, 0) - padded
    i = pid * CHUNK + tl.arange(0, CHUNK)
    mask = i < slots
    e = _load_expert(index, i, mask, E)
    r = tl.load(rank + i, mask=mask, other=0)
    _place(i, mask, e, r, start + before, weights, row_token, row_weight, slot_row, top_k)
    n = _list_tiles(tiles, done, cap, total, start, ex, pid * 16, chunks * 16, BLOCK_ROWS, ALIGN)
    if pid == 0:
        tl.store(tiles + 6 * cap, n)
        tl.store(tiles + 6 * cap + 1, 0)
        tl.store(bounds + ex, start, mask=ex < E)
        tl.store(bounds + E + ex, start + total, mask=ex < E)


@triton.jit
def route_kernel(
    index,
    weights,
    row_token,
    row_weight,
    slot_row,
    tiles,
    done,
    bounds,
    slots,
    top_k,
    cap,
    E: tl.constexpr,
    STEP: tl.constexpr,
    EP: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    ALIGN: tl.constexpr,
):
    """Counting, placing and listing in one program, for few pairs."""
    ex = tl.arange(0, EP)
    total = tl.zeros((EP,), tl.int32)
    for s in range(0, slots, STEP):
        i = s + tl.arange(0, STEP)
        e = _load_expert(index, i, i < slots, E)
        total += tl.sum((e[:, None] == ex[None, :]).to(tl.int32), 0)
    padded = (total + ALIGN - 1) // ALIGN * ALIGN
    start = tl.cumsum(padded, 0) - padded
    run = tl.zeros((EP,), tl.int32)
    for s in range(0, slots, STEP):
        i = s + tl.arange(0, STEP)
        mask = i < slots
        e = _load_expert(index, i, mask, E)
        r, run = _rank(e, ex, run)
        _place(i, mask, e, r, start, weights, row_token, row_weight, slot_row, top_k)
    n = _list_tiles(tiles, done, cap, total, start, ex, 0, 16, BLOCK_ROWS, ALIGN)
    tl.store(tiles + 6 * cap, n)
    tl.store(tiles + 6 * cap + 1, 0)
    tl.store(bounds + ex, start, mask=ex < E)
    tl.store(bounds + E + ex, start + total, mask=ex < E)
