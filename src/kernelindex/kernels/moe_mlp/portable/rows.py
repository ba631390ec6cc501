"""F1, F2, B1 and B2 in plain Triton: one program for each row tile and column tile.

    tiles       int32 [6 * cap + 1]  expert, first row, end row of each tile; unused; their number
    row_token   int32 [rows]         token of a sorted row
    row_weight  fp32  [rows]         router weight of a sorted row
    steps       depth of the product / BK; a constant trip count would be unrolled whole (B1 took
                7 s to compile instead of 2)

Rows past an expert's end repeat its last token with weight 0, so they stay finite and add nothing.
"""

# ruff: noqa: E741  (I is the operation's axis)

import triton
import triton.language as tl


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def up_kernel(
    x,
    w,
    row_token,
    row_weight,
    tiles,
    cap,
    steps,
    h,
    act,
    H: tl.constexpr,
    I: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    SAVE_H: tl.constexpr,
):
    """F1: h = x[token] @ gate_up[e]^T, act = silu(gate) * up * weight.

    FLOPs 4 * rows * H * I; bytes x + gate_up + rows * 3I elements.
    """
    mt = tl.program_id(0) // (I // BN)
    n0 = (tl.program_id(0) % (I // BN)) * BN
    if mt < tl.load(tiles + 6 * cap):
        e = tl.load(tiles + mt).to(tl.int64)
        rows = tl.load(tiles + cap + mt) + tl.arange(0, BM)
        end = tl.load(tiles + 2 * cap + mt)
        token = tl.load(row_token + tl.minimum(rows, end - 1)).to(tl.int64)
        rk = tl.arange(0, BK)
        rn = n0 + tl.arange(0, BN)
        a = x + token[:, None] * H + rk[None, :]
        g = w + e * (2 * I * H) + rn[None, :] * H + rk[:, None]
        gate = tl.zeros((BM, BN), tl.float32)
        up = tl.zeros((BM, BN), tl.float32)
        for _ in range(steps):
            av = tl.load(a)
            gate = tl.dot(av, tl.load(g), gate)
            up = tl.dot(av, tl.load(g + I * H), up)
            a += BK
            g += BK
        rows64 = rows.to(tl.int64)[:, None]
        if SAVE_H:
            tl.store(h + rows64 * (2 * I) + rn[None, :], gate.to(h.dtype.element_ty))
            tl.store(h + rows64 * (2 * I) + I + rn[None, :], up.to(h.dtype.element_ty))
        wv = tl.where(rows < end, tl.load(row_weight + tl.minimum(rows, end - 1)), 0.0)
        value = gate * _sigmoid(gate) * up * wv[:, None]
        tl.store(act + rows64 * I + rn[None, :], value.to(act.dtype.element_ty))


@triton.jit
def gemm_kernel(
    a,
    w,
    tiles,
    cap,
    steps,
    y,
    N: tl.constexpr,
    K: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    TRANS: tl.constexpr,
):
    """F2 with w [E, N, K] (TRANS) and B2 with w [E, K, N]: y = a @ w[e].

    FLOPs 2 * rows * N * K; bytes (rows * (K + N) + E * N * K) elements.
    """
    mt = tl.program_id(0) // (N // BN)
    n0 = (tl.program_id(0) % (N // BN)) * BN
    if mt < tl.load(tiles + 6 * cap):
        e = tl.load(tiles + mt).to(tl.int64)
        rows = (tl.load(tiles + cap + mt) + tl.arange(0, BM)).to(tl.int64)[:, None]
        rk = tl.arange(0, BK)
        rn = n0 + tl.arange(0, BN)
        ap = a + rows * K + rk[None, :]
        if TRANS:
            bp = w + e * (N * K) + rn[None, :] * K + rk[:, None]
        else:
            bp = w + e * (N * K) + rk[:, None] * N + rn[None, :]
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(steps):
            acc = tl.dot(tl.load(ap), tl.load(bp), acc)
            ap += BK
            bp += BK if TRANS else BK * N
        tl.store(y + rows * N + rn[None, :], acc.to(y.dtype.element_ty))


@triton.jit
def down_grad_kernel(
    dy,
    w,
    row_token,
    row_weight,
    tiles,
    cap,
    steps,
    h,
    dh,
    dw_part,
    rows_cap,
    H: tl.constexpr,
    I: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """B1: da = dy[token] @ down[e], through SwiGLU to dh, and the router gradient's partial sums.

    FLOPs 2 * rows * H * I; bytes dy + down + rows * 4I elements.
    """
    mt = tl.program_id(0) // (I // BN)
    nt = tl.program_id(0) % (I // BN)
    if mt < tl.load(tiles + 6 * cap):
        e = tl.load(tiles + mt).to(tl.int64)
        rows = tl.load(tiles + cap + mt) + tl.arange(0, BM)
        end = tl.load(tiles + 2 * cap + mt)
        token = tl.load(row_token + tl.minimum(rows, end - 1)).to(tl.int64)
        rk = tl.arange(0, BK)
        rn = nt * BN + tl.arange(0, BN)
        ap = dy + token[:, None] * H + rk[None, :]
        bp = w + e * (H * I) + rk[:, None] * I + rn[None, :]
        da = tl.zeros((BM, BN), tl.float32)
        for _ in range(steps):
            da = tl.dot(tl.load(ap), tl.load(bp), da)
            ap += BK
            bp += BK * I
        at = rows.to(tl.int64)[:, None] * (2 * I) + rn[None, :]
        gate = tl.load(h + at).to(tl.float32)
        up = tl.load(h + at + I).to(tl.float32)
        wv = tl.where(rows < end, tl.load(row_weight + tl.minimum(rows, end - 1)), 0.0)[:, None]
        s = _sigmoid(gate)
        silu = gate * s
        tl.store(dw_part + nt.to(tl.int64) * rows_cap + rows, tl.sum(da * silu * up, 1))
        dgate = da * up * (s + silu - silu * s) * wv
        tl.store(dh + at, dgate.to(dh.dtype.element_ty))
        tl.store(dh + at + I, (da * silu * wv).to(dh.dtype.element_ty))
