"""The first call's kernels, compiled side by side before the first of them is launched.

The passes themselves run once on tensors without memory, which compiles and launches nothing, so
that each kernel is asked for with the arguments it is going to get. The workload of record's ten,
for sm_90 on two cores: 9.2 s one after the other, 5.5 s side by side. Wherever threads cannot be
had, or a kernel fails in one, its launch compiles it.
"""

from __future__ import annotations

import logging
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any

import torch

from .passes import plan_on, run_backward, run_forward
from .values import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .shape import Shape

MOST_THREADS = 16  # more than a step has kernels

_log = logging.getLogger(__name__)
_tried: set[tuple[Any, ...]] = set()
_lock = RLock()


def prepare(shape: Shape, inputs: Inputs, save: bool) -> None:
    """Compiles what a call is going to launch and, with `save`, its backward; once a kind of call.

    Another number of tokens is another kind only with another configuration. With the same one at
    most the small kernels of the routing are compiled again, at their launches.
    """
    x, _, down_proj, index, weights = inputs
    launch, _ = plan_on(shape, x.device)
    types = (x.dtype, index.dtype, weights.dtype)
    kind = (launch.name, down_proj.shape, shape.top_k, save, x.device, types)
    if kind in _tried or torch.cuda.is_current_stream_capturing():
        return
    with torch.cuda.device_of(x), _lock:  # a second thread waits, and finds all of it compiled
        if kind not in _tried:
            with suppress(Exception):  # launches compile what is missing, and say what is wrong
                # In a copy of the context: an error in Triton's mode leaves it active.
                copy_context().run(compile_side_by_side, shape, inputs, save)
            _tried.add(kind)


def compile_side_by_side(shape: Shape, inputs: Inputs, save: bool) -> None:
    """Compiles in threads for the current device what a call on such tensors launches."""
    from triton import AsyncCompileMode, knobs

    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    if threads < 2 or knobs.runtime.interpret:
        return
    mode = AsyncCompileMode(pool := _Pool(threads), ignore_errors=True)
    with _one_front_end_at_a_time() as turn, pool, mode, turn:
        compile_passes(shape, inputs, save)


def compile_passes(shape: Shape, inputs: Inputs, save: bool) -> None:
    """Asks for every kernel with what it is launched with; an address of 0 is an aligned one."""
    empty = Inputs(*(torch.empty(t.shape, dtype=t.dtype, device="meta") for t in inputs))
    x, gate_up, down, _, weights = empty
    _, saved = run_forward(shape, empty, save)
    if save:
        run_backward(shape, x, x, gate_up, down, weights, saved)


@contextmanager
def _one_front_end_at_a_time() -> Iterator[RLock]:
    """Makes Triton's translation from Python take turns; nothing is lost, it holds Python's lock.

    Two at a time are not safe. CPython before 3.11.8 counts the depth of `ast.parse` in one place
    for all threads, and raises SystemError where a garbage collection that runs Python code lets
    another thread parse in between (python/cpython#106905); from then on the function goes by a
    key that says nothing of its source, so this thread too parses in its turn, to make the keys.
    And each step of a translation saves and restores the process's warning filters.
    """
    from triton.compiler import code_generator

    turn, translate = RLock(), code_generator.ast_to_ttir

    @wraps(translate)
    def in_turn(*args: Any, **kwargs: Any) -> Any:
        with turn:
            return translate(*args, **kwargs)

    code_generator.ast_to_ttir = in_turn
    try:
        yield turn
    finally:
        code_generator.ast_to_ttir = translate


class _Pool(ThreadPoolExecutor):
    """Threads that build a kernel's launcher too: 0.2 s of gcc that its first launch would take."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(_compile_and_bind, fn, *args, **kwargs)

    def __exit__(self, *error: object) -> None:
        self.shutdown(cancel_futures=True)  # an interrupt waits for what runs, not for the rest


def _compile_and_bind(compile_kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    from triton.runtime import driver

    try:
        kernel = compile_kernel(*args, **kwargs)
    except Exception:
        _log.debug("a kernel failed to compile before its launch", exc_info=True)
        raise
    with suppress(Exception):  # the launch builds it again, and says what is wrong
        driver.active.launcher_cls(kernel.src, kernel.metadata)
    return kernel
