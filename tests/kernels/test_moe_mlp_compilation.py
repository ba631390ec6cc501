"""The first call's kernels compile side by side, with the arguments that the launches bring.

No GPU: a driver says that there is one, and a compiler that writes down what it is asked for takes
the place of Triton's.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.runtime import _async_compile, driver  # noqa: E402

from kernelindex.kernels.moe_mlp import compilation, reduce, routing  # noqa: E402
from kernelindex.kernels.moe_mlp.compilation import (  # noqa: E402
    Types,
    compile_passes,
    compile_side_by_side,
    constants_of,
    prepare,
)
from kernelindex.kernels.moe_mlp.hopper import down_grad, gemm, up, weight_grad  # noqa: E402
from kernelindex.kernels.moe_mlp.passes import Plan, backward, forward, plan_for  # noqa: E402
from kernelindex.kernels.moe_mlp.portable import rows  # noqa: E402
from kernelindex.kernels.moe_mlp.portable import weight_grad as plain_grad  # noqa: E402
from kernelindex.kernels.moe_mlp.shape import Shape  # noqa: E402
from kernelindex.kernels.moe_mlp.start import compile_only  # noqa: E402
from kernelindex.kernels.moe_mlp.values import Inputs  # noqa: E402

KERNELS = (
    *(routing.route_kernel, routing.count_kernel, routing.place_kernel, reduce.reduce_kernel),
    *(up.up_kernel, gemm.gemm_kernel, down_grad.down_grad_kernel, weight_grad.weight_grad_kernel),
    *(rows.up_kernel, rows.gemm_kernel, rows.down_grad_kernel, plain_grad.weight_grad_kernel),
)
HOPPER, AMPERE = (9, 0), (8, 0)
BF16 = Types(torch.bfloat16, torch.int32, torch.bfloat16)
RECORD = Shape(8192, 2048, 768, 64, 8)
SMALL = Shape(96, 256, 256, 8, 8)
FORWARD, STEP = 5, 10  # kernels of a forward, and of one with its backward
Compile = Callable[..., Any]


class Driver:
    """A GPU in name only; each new `device` has no kernel yet."""

    def __init__(self, target: GPUTarget) -> None:
        self.device, self.target = 0, target

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return self.device

    def get_current_stream(self, device: int | None = None) -> int:
        return 0


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


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """Kernels as a new process has them, two processors, nothing prepared."""
    fake = Driver(GPUTarget("cuda", 90, 32))
    monkeypatch.setattr(driver, "_active", fake)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(compilation, "_calls", set())
    monkeypatch.setattr(compilation, "_compiled", set())
    for kernel in KERNELS:
        monkeypatch.setattr(kernel, "device_caches", defaultdict(kernel.create_binder))
        monkeypatch.setattr(kernel, "compile", None, raising=False)  # restored afterwards
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


def draw(shape: Shape, index: torch.dtype = torch.int32) -> Inputs:
    """Tensors with addresses; nobody touches their memory."""
    t, h, i, e, k = shape.tokens, shape.hidden, shape.inter, shape.experts, shape.top_k
    axes = ((t, h), (e, 2 * i, h), (e, h, i))
    x, gate_up, down = (torch.empty(*a, dtype=torch.bfloat16) for a in axes)
    weights = torch.empty(t, k, dtype=torch.bfloat16)
    return Inputs(x, gate_up, down, torch.empty(t, k, dtype=index), weights)


def call(plan: Plan, inputs: Inputs, save: bool) -> None:
    """A call whose launches stop after they have looked for their kernel."""
    _, saved = forward(plan, inputs, save, compile_only)
    if save:
        x, gate_up, down, _, weights = inputs
        backward(plan, torch.empty_like(x), x, gate_up, down, weights, saved, compile_only)


@pytest.mark.parametrize("save", [False, True], ids=["forward", "step"])
@pytest.mark.parametrize(
    ("shape", "capability"),
    [(RECORD, HOPPER), (RECORD, AMPERE), (Shape(1, 256, 256, 8, 8), HOPPER)],
    ids=["hopper", "portable", "decode"],
)
def test_a_call_finds_every_kernel_compiled(
    gpu: Driver, compiler: Compiler, shape: Shape, capability: tuple[int, int], save: bool
) -> None:
    plan = plan_for(shape, capability)
    compile_side_by_side(shape, plan, BF16, save)
    one_block = shape.tokens == 1
    assert len(compiler.compiled) == (STEP if save else FORWARD) - one_block
    assert sorted(compiler.launchers) == sorted(compiler.compiled)
    before = found(gpu.device)
    assert len(before) == len(compiler.compiled)
    call(plan, draw(shape), save)
    assert found(gpu.device) == before
    assert len(compiler.compiled) == len(before)


@pytest.mark.parametrize("capability", [HOPPER, AMPERE], ids=["hopper", "portable"])
@pytest.mark.parametrize("top_k", [1, 3, 8])
def test_constants_tell_apart_what_is_compiled_and_nothing_else(
    gpu: Driver, compiler: Compiler, top_k: int, capability: tuple[int, int]
) -> None:
    wanted = defaultdict(set)
    for tokens in (*range(1, 50, 3), *range(120, 1500, 93), 2048, 4095, 8192, 16384, 40000):
        gpu.device += 1
        shape = Shape(tokens, 512, 256, 9, top_k)
        plan = plan_for(shape, capability)
        compile_passes(shape, plan, BF16, True)
        wanted[constants_of(shape, plan)].add(found(gpu.device))
    assert len(wanted) < 20
    assert all(len(kernels) == 1 for kernels in wanted.values())
    assert len({next(iter(kernels)) for kernels in wanted.values()}) == len(wanted)


def test_two_kernels_compile_at_a_time_on_two_processors(compiler: Compiler) -> None:
    pair = threading.Barrier(2)  # broken, which is an error, if one waits for the next alone
    compiler.does = lambda: pair.wait(timeout=20)
    compile_side_by_side(RECORD, plan_for(RECORD, HOPPER), BF16, True)
    assert len(compiler.launchers) == STEP


def test_a_kind_of_call_is_prepared_once(compiler: Compiler) -> None:
    inputs = draw(SMALL)
    prepare(SMALL, inputs, False)
    assert len(compiler.compiled) == FORWARD
    prepare(SMALL, inputs, True)  # h is saved now: F1 is another kernel, the rest is there
    assert len(compiler.compiled) == STEP + 1
    prepare(SMALL, draw(SMALL, torch.int64), False)
    assert len(compiler.compiled) == STEP + 3  # both routing kernels read the index


def test_a_call_of_a_known_kind_is_one_look_up(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Calls(set):
        looked = 0

        def __contains__(self, one: object) -> bool:
            self.looked += 1
            return super().__contains__(one)

    def refuse(*_: Any) -> None:
        raise AssertionError

    inputs, calls = draw(SMALL), Calls()
    monkeypatch.setattr(compilation, "_calls", calls)
    prepare(SMALL, inputs, True)
    for name in ("_compile_once", "plan_on", "compile_side_by_side"):
        monkeypatch.setattr(compilation, name, refuse)
    prepare(SMALL, inputs, True)
    assert calls.looked == 2


def test_another_number_of_tokens_with_the_same_code_compiles_nothing(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = replace(SMALL, tokens=SMALL.tokens + 2)
    prepare(SMALL, draw(SMALL), True)
    monkeypatch.setattr(compilation, "compile_side_by_side", None)
    before = len(compiler.compiled)
    prepare(longer, draw(longer), True)
    assert len(compilation._calls) == 2
    assert len(compilation._compiled) == 1
    assert len(compiler.compiled) == before


def test_calls_that_are_remembered_are_bounded(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation, "MOST_CALLS", 2)
    for tokens in range(96, 106, 2):
        shape = replace(SMALL, tokens=tokens)
        prepare(shape, draw(shape), False)
        assert 1 <= len(compilation._calls) <= 2
    assert len(compiler.compiled) == FORWARD


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
    gpu: Driver, compiler: Compiler
) -> None:
    compiler.does = fail
    inputs = draw(SMALL)
    prepare(SMALL, inputs, True)
    assert len(compiler.compiled) == STEP
    assert found(gpu.device) == frozenset()
    prepare(SMALL, inputs, True)  # is not tried again
    assert len(compiler.compiled) == STEP
    with pytest.raises(RuntimeError, match="no compiler"):
        call(plan_for(SMALL, AMPERE), inputs, True)


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
    call(plan_for(SMALL, AMPERE), inputs, True)
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


@pytest.mark.slow
@pytest.mark.parametrize("shape", [RECORD, Shape(1, 256, 256, 8, 8)], ids=["hopper", "decode"])
def test_the_same_code_is_compiled_side_by_side_and_in_turn(
    gpu: Driver, caches: Callable[[], Any], shape: Shape
) -> None:
    plan, codes = plan_for(shape, HOPPER), []
    for way in (compile_side_by_side, compile_passes):
        gpu.device += 1
        path = caches()
        way(shape, plan, BF16, True)
        codes.append(sorted(file.read_bytes() for file in path.rglob("*.cubin")))
    assert len(codes[0]) == (9 if shape.tokens == 1 else STEP)
    assert codes[0] == codes[1]
    assert found(1) == found(2)
