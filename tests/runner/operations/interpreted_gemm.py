"""Runs the tiled product in Triton's interpreter; prints the largest relative errors as JSON.

A program of its own: an environment variable chooses the interpreter before Triton is imported.
"""

from __future__ import annotations

import json
import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
from triton.runtime import interpreter

from kernelindex.runner.operations.gemm import triton_product

SHAPES = ((45, 37, 70), (1, 33, 64), (64, 32, 32), (200, 17, 5))


def accept_new_numpy() -> None:
    """NumPy 2.4 turns no array of one element into a number any more; the interpreter needs it."""
    patch = interpreter._patch_lang_tensor

    def patched(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patched


def errors(m: int, n: int, k: int, dtype: torch.dtype) -> list[float]:
    """Relative errors of c and both gradients."""
    a, b = torch.randn(m, k).to(dtype), torch.randn(n, k).to(dtype)
    dc = torch.randn(m, n).to(dtype)
    leaves = [a.clone().requires_grad_(), b.clone().requires_grad_()]
    c = triton_product.product(*leaves)
    c.backward(dc)
    wide = [t.double() for t in (a, b, dc)]
    wanted = [wide[0] @ wide[1].T, wide[2] @ wide[1], wide[2].T @ wide[0]]
    got = [c.detach(), leaves[0].grad, leaves[1].grad]
    return [float((g.double() - w).norm() / w.norm()) for g, w in zip(got, wanted, strict=True)]


def main() -> None:
    accept_new_numpy()
    torch.manual_seed(5)
    tile = triton.Config({"BM": 32, "BN": 16, "BK": 32})
    for kernel in (triton_product._tiles, triton_product._wide_tiles):
        kernel.configs = [tile]
    found = {
        str(dtype): max(e for shape in SHAPES for e in errors(*shape, dtype))
        for dtype in (torch.float16, torch.float32)
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
