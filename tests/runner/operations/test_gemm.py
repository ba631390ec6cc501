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
