"""The tiled product, in Triton's interpreter: partial tiles, several rows of tiles, gradients."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the tiled product needs torch")
pytest.importorskip("triton", reason="the tiled product needs triton")

ROOT = Path(__file__).parents[3]
SHARED_BYTES = 227 << 10  # what a block may have on sm_90


@pytest.mark.slow
def test_the_tiled_product_and_its_gradients_are_right() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.runner.operations.interpreted_gemm"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["torch.float16"] < 5e-4
    assert found["torch.float32"] < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("configs", "pointer"), [("_CONFIGS", "*bf16"), ("_WIDE", "*fp32")])
def test_every_tile_compiles_for_a_gpu(configs: str, pointer: str) -> None:
    """The interpreter takes annotations that the compiler does not."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from kernelindex.runner.operations.gemm import triton_product

    kernel = triton.jit(triton_product._tile_kernel)
    for config in getattr(triton_product, configs):
        constants = {**config.kwargs, "GROUP": triton_product.GROUP}
        kinds = {
            name: pointer if name in "abc" else "constexpr" if name in constants else "i32"
            for name in kernel.arg_names
        }
        compiled = triton.compile(
            ASTSource(fn=kernel, signature=kinds, constexprs=constants),
            target=GPUTarget("cuda", 90, 32),
            options={"num_warps": config.num_warps, "num_stages": config.num_stages},
        )
        assert compiled.asm["cubin"]
        assert 0 < compiled.metadata.shared <= SHARED_BYTES
