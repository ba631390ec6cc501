"""B4 and B5 in plain Triton: out[e] = a^T @ b over the rows of expert e, one operand gathered.

    a        [T, M] gathered or [rows, M]
    b        [rows, N] or [T, N] gathered
    bounds   int32 [2, E]  first and end row of each expert
    out      [E, M, N]     written once; an expert without rows gets zeros from the empty sum

FLOPs 2 * rows * M * N; bytes (rows * (M + N) + E * M * N) elements.
"""

import triton
import triton.language as tl


@triton.jit
def weight_grad_kernel(
    a,
    b,
    row_token,
    bounds,
    out,
    E: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GATHER_A: tl.constexpr,
):
    t = tl.program_id(0)
    e = t // ((M // BM) * (N // BN))
    q = t % ((M // BM) * (N // BN))
    rm = (q // (N // BN)) * BM + tl.arange(0, BM)
    rn = (q % (N // BN)) * BN + tl.arange(0, BN)
    first = tl.load(bounds + e)
    end = tl.load(bounds + E + e)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(first, end, BK):
        row = k + tl.arange(0, BK)
        mask = row < end
        token = tl.load(row_token + row, mask=mask, other=0).to(tl.int64)
        if GATHER_A:
            ra = token
            rb = row.to(tl.int64)
        else:
            ra = row.to(tl.int64)
            rb = token
        av = tl.load(a + ra[None, :] * M + rm[:, None], mask=mask[None, :], other=0.0)
        bv = tl.load(b + rb[:, None] * N + rn[None, :], mask=mask[:, None], other=0.0)
        acc = tl.dot(av, bv, acc)
    at = out + e.to(tl.int64) * (M * N) + rm.to(tl.int64)[:, None] * N + rn[None, :]
    tl.store(at, acc.to(out.dtype.element_ty))
