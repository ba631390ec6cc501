"""The first call's kernels, compiled side by side before the first of them is launched.

The passes themselves run on tensors without memory and only compile, so that each kernel is asked
for with the arguments it is going to get. The workload of record's ten, for sm_90 on two cores:
9.2 s one after the other, 5.5 s side by side; for 3 of the 9 a thread holds the interpreter's lock.
Wherever threads cannot be had nothing is done, and each launch compiles what it misses.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .passes import Plan, backward, forward, plan_on
from .start import compile_only
from .values import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from .shape import Shape

MOST_THREADS = 16  # more than a step has kernels
MOST_CALLS = 4096


class Types(NamedTuple):
    """What an input's type decides: of x and the weights, of the index, of the router weights."""

    x: torch.dtype
    top_k_index: torch.dtype
    top_k_weights: torch.dtype


_calls: set[tuple[Any, ...]] = set()
_compiled: set[tuple[Any, ...]] = set()
_lock = RLock()


def prepare(shape: Shape, inputs: Inputs, save: bool) -> None:
    """Compiles what a forward is going to launch and, with `save`, its backward; once."""
    x, _, _, index, weights = inputs
    call = (shape, save, x.device, x.dtype, index.dtype, weights.dtype)
    if call not in _calls:
        with suppress(Exception):  # launches compile what is missing, and say what is wrong
            _prepare(call, x)


def _prepare(call: tuple[Any, ...], x: torch.Tensor) -> None:
    if torch.cuda.is_current_stream_capturing():
        return
    shape, save, device, *types = call
    with torch.cuda.device_of(x), _lock:  # a second thread waits, and finds all of it compiled
        try:
            _compile_once(shape, save, device, Types(*types))
        finally:
            if len(_calls) >= MOST_CALLS:
                _calls.clear()
            _calls.add(call)


def _compile_once(shape: Shape, save: bool, device: torch.device, types: Types) -> None:
    plan = plan_on(shape, device)
    wanted = (constants_of(shape, plan), save, device, types)
    if wanted not in _compiled:
        _compiled.add(wanted)
        # In a copy of the context: an error in Triton's mode leaves it active.
        copy_context().run(compile_side_by_side, shape, plan, types, save)


def constants_of(shape: Shape, plan: Plan) -> tuple[Any, ...]:
    """What tells apart the code that is compiled for two shapes, types aside.

    Triton compiles an integer argument again where it is 1, a multiple of 16 or neither.
    """
    launch, layout = plan
    integers = (layout.slots, layout.chunks)
    kinds = tuple("1" if n == 1 else "16" if n % 16 == 0 else "" for n in integers)
    return (launch, shape.hidden, shape.inter, shape.experts, shape.top_k, layout.chunk, kinds)


def compile_side_by_side(shape: Shape, plan: Plan, types: Types, save: bool) -> None:
    """Compiles in threads for the current device what a plan launches."""
    from triton import AsyncCompileMode, knobs

    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    if threads < 2 or knobs.runtime.interpret:
        return
    with _Pool(threads) as pool, AsyncCompileMode(pool, ignore_errors=True):
        compile_passes(shape, plan, types, save)


def compile_passes(shape: Shape, plan: Plan, types: Types, save: bool) -> None:
    """Asks for every kernel with what it is launched with; an address of 0 is an aligned one."""
    t, h, i, e, k = shape.tokens, shape.hidden, shape.inter, shape.experts, shape.top_k

    def empty(dtype: torch.dtype, *axes: int) -> torch.Tensor:
        return torch.empty(axes, dtype=dtype, device="meta")

    x, gate_up, down = (empty(types.x, *axes) for axes in ((t, h), (e, 2 * i, h), (e, h, i)))
    weights = empty(types.top_k_weights, t, k)
    inputs = Inputs(x, gate_up, down, empty(types.top_k_index, t, k), weights)
    _, saved = forward(plan, inputs, save, compile_only)
    if save:
        backward(plan, torch.empty_like(x), x, gate_up, down, weights, saved, compile_only)


class _Pool(ThreadPoolExecutor):
    """Threads that build a kernel's launcher too: 0.2 s of gcc that its first launch would take."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(_compile_and_bind, fn, *args, **kwargs)


def _compile_and_bind(compile_kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    from triton.runtime import driver

    kernel = compile_kernel(*args, **kwargs)
    with suppress(Exception):  # the launch builds it again, and says what is wrong
        driver.active.launcher_cls(kernel.src, kernel.metadata)
    return kernel
