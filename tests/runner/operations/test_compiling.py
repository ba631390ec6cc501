"""Configurations are compiled once, before the first run, and later runs are the tuner's own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="the kernels that are tuned need torch")
pytest.importorskip("triton", reason="the kernels that are tuned need triton")

from triton.runtime import _async_compile
from triton.runtime.autotuner import Autotuner

from kernelindex.runner.operations.moe_mlp.compiling import compile_side_by_side


class Tuner(Autotuner):
    """Writes down what is asked of it; ``fails`` at compiling where that is wanted."""

    def __init__(self, *, fails: bool = False) -> None:
        self.asked: list[tuple[str, Any, Any]] = []
        self.fails = fails

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        assert _async_compile.active_mode.get() is not None
        self.asked.append(("compile", args, kwargs))
        if self.fails:
            raise RuntimeError("no such configuration")

    def run(self, *args: Any, **kwargs: Any) -> str:
        self.asked.append(("run", args, kwargs))
        return "result"


@pytest.mark.parametrize("fails", [False, True])
def test_each_kernel_compiles_before_its_first_run_only(fails: bool) -> None:
    tuner, other = Tuner(fails=fails), Tuner()
    assert compile_side_by_side(SimpleNamespace(a=tuner, b=other, c=3)) == 2
    assert [tuner.run(1, grid=2, warmup=False) for _ in range(2)] == ["result"] * 2
    given = {"grid": 2, "warmup": False}
    assert tuner.asked == [
        ("compile", (1,), {"grid": 2}),
        ("run", (1,), given),
        ("run", (1,), given),
    ]
    assert other.asked == []
    assert tuner.run == Tuner.run.__get__(tuner)
    assert _async_compile.active_mode.get() is None
