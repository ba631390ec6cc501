"""The first call's kernels compile side by side, with the arguments that the launches bring.

No GPU: a driver says that there is one, and a compiler that writes down what it is asked for takes
the place of Triton's.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from triton.compiler import code_generator  # noqa: E402
from triton.runtime import _async_compile  # noqa: E402
from triton.runtime.jit import KernelInterface  # noqa: E402

from kernelindex.kernels.moe_mlp import compilation  # noqa: E402
from kernelindex.kernels.moe_mlp.compilation import (  # noqa: E402
    compile_passes,
    compile_side_by_side,
    prepare,
)
from kernelindex.kernels.moe_mlp.passes import plan_for, run_backward, run_forward  # noqa: E402
from kernelindex.kernels.moe_mlp.shape import Shape  # noqa: E402
from kernelindex.kernels.moe_mlp.values import Inputs  # noqa: E402
from tests.kernels.named_gpu import AMPERE, HOPPER, KERNELS, Driver, draw, use  # noqa: E402

RECORD = Shape(8192, 2048, 768, 64, 8)
SMALL = Shape(96, 256, 256, 8, 8)
FORWARD, STEP = 5, 10  # kernels of a forward, and of one with its backward


class Compiler:
    """Counts what is compiled and what gets a launcher; `does` stands for the work."""

    def __init__(self, does: Callable[[], Any] = lambda: None) -> None:
        self.compiled: list[str] = []
        self.launchers: list[str] = []
        self.does = does

    def compile(self, src: Any, target: Any = None, options: Any = None, **_: Any) -> Any:
        self.compiled.append(src.name)
        self.does()
        return SimpleNamespace(src=src, metadata=None)

    def build_launcher(self, src: Any, metadata: Any) -> None:
        self.launchers.append(src.name)


def look_up(kernel: Any, grid: tuple[int, ...], *args: Any, **options: Any) -> None:
    """A launch that ends where its kernel is found; nothing is kept for the next one."""
    kernel.warmup(*args, grid=grid, **options)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """Kernels as a new process has them, two processors, nothing prepared; no launch runs."""
    fake = Driver(AMPERE)
    use(fake, monkeypatch)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(compilation, "_tried", set())
    monkeypatch.setattr(compilation, "plan_on", lambda shape, _: plan_for(shape, fake.capability))
    monkeypatch.setattr(KernelInterface, "__getitem__", lambda k, grid: partial(look_up, k, grid))
    return fake


@pytest.fixture
def compiler(gpu: Driver, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    compiler = Compiler()
    monkeypatch.setattr("triton.compiler.compile", compiler.compile)
    gpu.launcher_cls = compiler.build_launcher
    return compiler


def found(device: int) -> frozenset[tuple[str, str]]:
    """Every kernel that a device has, by the key that a launch looks it up with."""
    keys = ((k.fn.__module__, key) for k in KERNELS for key in k.device_caches[device][0])
    return frozenset(keys)


def call(shape: Shape, inputs: Inputs, save: bool) -> None:
    """A call whose launches stop after they have looked for their kernel."""
    _, saved = run_forward(shape, inputs, save)
    if save:
        x, gate_up, down, _, weights = inputs
        run_backward(shape, torch.empty_like(x), x, gate_up, down, weights, saved)


@pytest.mark.parametrize("save", [False, True], ids=["forward", "step"])
@pytest.mark.parametrize(
    ("shape", "capability"),
    [(RECORD, HOPPER), (RECORD, AMPERE), (Shape(1, 256, 256, 8, 8), HOPPER)],
    ids=["hopper", "portable", "decode"],
)
def test_a_call_finds_every_kernel_compiled(
    gpu: Driver, compiler: Compiler, shape: Shape, capability: tuple[int, int], save: bool
) -> None:
    gpu.capability, inputs = capability, draw(shape)
    compile_side_by_side(shape, inputs, save)
    one_block = shape.tokens == 1
    assert len(compiler.compiled) == (STEP if save else FORWARD) - one_block
    assert sorted(compiler.launchers) == sorted(compiler.compiled)
    before = found(gpu.device)
    assert len(before) == len(compiler.compiled)
    call(shape, inputs, save)
    assert found(gpu.device) == before
    assert len(compiler.compiled) == len(before)


def test_asking_for_kernels_does_not_import_sympy(
    gpu: Driver, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch does for some operations without memory, half a second of the first forward."""
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", None)
    with pytest.raises(ImportError):
        torch.empty_like(torch.empty(2, 2, device="meta"))
    for gpu.capability in (AMPERE, HOPPER):
        compile_passes(RECORD, draw(RECORD), True)


def test_two_kernels_compile_at_a_time_on_two_processors(compiler: Compiler) -> None:
    pair = threading.Barrier(2)  # broken, which is an error, if one waits for the next alone
    compiler.does = lambda: pair.wait(timeout=20)
    compile_side_by_side(SMALL, draw(SMALL), True)
    assert len(compiler.launchers) == STEP


def front_end() -> None:
    code_generator.ast_to_ttir()


def test_front_ends_take_turns_after_all_is_asked_for(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: list[str] = []

    def working(name: str, does: Callable[..., Any], *args: Any) -> None:
        assert at_work == []
        at_work.append(name)
        does(*args)
        at_work.remove(name)

    translate = partial(working, "front end", time.sleep, 0.01)
    monkeypatch.setattr(code_generator, "ast_to_ttir", translate)
    monkeypatch.setattr(compilation, "compile_passes", partial(working, "passes", compile_passes))
    compiler.does = front_end
    compile_side_by_side(SMALL, draw(SMALL), True)
    assert len(compiler.launchers) == STEP
    assert code_generator.ast_to_ttir is translate


def test_a_kind_of_call_is_prepared_once(compiler: Compiler) -> None:
    inputs = draw(SMALL)
    prepare(SMALL, inputs, False)
    assert len(compiler.compiled) == FORWARD
    prepare(SMALL, inputs, True)  # h is saved now: F1 is another kernel, the rest is there
    assert len(compiler.compiled) == STEP + 1
    prepare(SMALL, draw(SMALL, index=torch.int64), False)
    assert len(compiler.compiled) == STEP + 3  # both routing kernels read the index


def test_another_number_of_tokens_with_the_same_configuration_is_no_other_kind(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(SMALL, draw(SMALL), True)
    longer, one = replace(SMALL, tokens=SMALL.tokens + 1), replace(SMALL, tokens=1)
    with monkeypatch.context() as patch:
        patch.setattr(compilation, "compile_side_by_side", None)
        prepare(longer, draw(longer), True)
    prepare(one, draw(one), True)
    assert len(compiler.compiled) > STEP


def test_a_second_thread_waits_and_finds_all_compiled(gpu: Driver, compiler: Compiler) -> None:
    started = threading.Event()
    compiler.does = lambda: started.wait(20) and threading.Event().wait(0.01)
    inputs = draw(SMALL)

    def prepared(_: int) -> int:
        prepare(SMALL, inputs, True)
        return len(found(gpu.device))

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(prepared, n) for n in range(2)]
        started.set()
        assert [one.result(timeout=20) for one in both] == [STEP, STEP]
    assert len(compiler.compiled) == STEP


def fail() -> None:
    raise RuntimeError("no compiler")


def test_a_kernel_that_does_not_compile_fails_at_its_launch(
    gpu: Driver, compiler: Compiler, caplog: pytest.LogCaptureFixture
) -> None:
    compiler.does = fail
    inputs = draw(SMALL)
    with caplog.at_level("DEBUG", logger=compilation.__name__):
        prepare(SMALL, inputs, True)
    assert len(compiler.compiled) == caplog.text.count("RuntimeError: no compiler") == STEP
    assert found(gpu.device) == frozenset()
    prepare(SMALL, inputs, True)  # is not tried again
    assert len(compiler.compiled) == STEP
    with pytest.raises(RuntimeError, match="no compiler"):
        call(SMALL, inputs, True)


def test_a_launcher_that_cannot_be_built_is_left_to_the_launch(
    gpu: Driver, compiler: Compiler
) -> None:
    del gpu.launcher_cls
    prepare(SMALL, draw(SMALL), True)
    assert len(found(gpu.device)) == STEP


def without_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(triton, "AsyncCompileMode")


def with_another_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton, "AsyncCompileMode", lambda executor: executor)


def with_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})


def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")


def capturing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)


def without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)


WAYS = (without_mode, with_another_mode, with_one_processor, interpreted, capturing)


@pytest.mark.parametrize("change", [*WAYS, without_threads], ids=lambda way: way.__name__)
def test_launches_compile_for_themselves_where_threads_cannot(
    gpu: Driver,
    compiler: Compiler,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pytest.MonkeyPatch], None],
) -> None:
    inputs = draw(SMALL)
    with monkeypatch.context() as patch:
        change(patch)
        prepare(SMALL, inputs, True)
    assert compiler.compiled == []
    assert _async_compile.active_mode.get() is None
    call(SMALL, inputs, True)
    assert len(compiler.compiled) == len(found(gpu.device)) == STEP


def test_a_captured_call_leaves_the_next_one_to_be_prepared(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = draw(SMALL)
    with monkeypatch.context() as patch:
        capturing(patch)
        prepare(SMALL, inputs, False)
    prepare(SMALL, inputs, False)
    assert len(compiler.compiled) == FORWARD


def test_a_mode_of_the_callers_is_left_alone(compiler: Compiler) -> None:
    with ThreadPoolExecutor(1) as pool, triton.AsyncCompileMode(pool) as mode:
        prepare(SMALL, draw(SMALL), True)
        assert _async_compile.active_mode.get() is mode
        assert mode.raw_futures == []
    assert compiler.compiled == []
    assert _async_compile.active_mode.get() is None


def test_no_mode_stays_active_after_an_error_in_it(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton.AsyncCompileMode, "__exit__", lambda *_: fail())
    prepare(SMALL, draw(SMALL), True)
    assert _async_compile.active_mode.get() is None


@pytest.fixture
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Any]]:
    """An empty folder for compiled code at each call, and what is in it afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        numbers = count()

        def fresh() -> Any:
            path = tmp_path_factory.mktemp(f"cache{next(numbers)}")
            patch.setenv("TRITON_CACHE_DIR", str(path))
            return path

        yield fresh


@pytest.fixture
def collector() -> Iterator[None]:
    """Every few allocations a garbage collection lets other threads run, in `ast.parse` too."""
    usual = gc.get_threshold()
    gc.callbacks.append(yield_to_others)
    gc.set_threshold(100, *usual[1:])
    yield
    gc.set_threshold(*usual)
    gc.callbacks.remove(yield_to_others)


def yield_to_others(phase: str, info: dict[str, int]) -> None:
    time.sleep(0)


@pytest.mark.slow
@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("shape", [RECORD, Shape(1, 256, 256, 8, 8)], ids=["hopper", "decode"])
def test_the_same_code_is_compiled_side_by_side_and_in_turn(
    gpu: Driver,
    caches: Callable[[], Any],
    caplog: pytest.LogCaptureFixture,
    shape: Shape,
) -> None:
    caplog.set_level("DEBUG", logger=compilation.__name__)
    gpu.capability, inputs, codes = HOPPER, draw(shape), []
    filters = list(warnings.filters)
    for way in (compile_side_by_side, compile_passes):
        gpu.device += 1
        path = caches()
        way(shape, inputs, True)
        codes.append(sorted(file.read_bytes() for file in path.rglob("*.cubin")))
    assert caplog.text == ""
    assert len(codes[0]) == (9 if shape.tokens == 1 else STEP)
    assert codes[0] == codes[1]
    assert found(1) == found(2)
    assert warnings.filters == filters
