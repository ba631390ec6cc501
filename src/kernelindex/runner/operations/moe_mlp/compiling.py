"""Compiles the configurations of a library's autotuned Triton kernels side by side.

Liger's expert MLP tunes over some 240 variants and compiles them one after another: 170 s before
its first result. Compiled in threads they are the same variants, timed by the same tuner; only
the time of the first call is not what a user of the library sees.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["compile_side_by_side"]

MOST_THREADS = 16


def compile_side_by_side(module: Any) -> int:
    """Let each autotuned kernel of ``module`` compile in threads, once; how many there are.

    A kernel's first run compiles all its configurations, then it runs and tunes as always: the
    calls that are timed go through nothing of ours.
    """
    from triton.runtime.autotuner import Autotuner

    tuners = [one for one in vars(module).values() if isinstance(one, Autotuner)]
    for tuner in tuners:
        _prepare(tuner)
    return len(tuners)


def _prepare(tuner: Any) -> None:
    def run(*args: Any, **kwargs: Any) -> Any:
        del tuner.run
        _compile_all(tuner, args, {k: v for k, v in kwargs.items() if k != "warmup"})
        return tuner.run(*args, **kwargs)

    tuner.run = run


def _compile_all(tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    from triton import AsyncCompileMode

    threads = min(MOST_THREADS, os.cpu_count() or 1)
    try:
        with ThreadPoolExecutor(threads) as pool, AsyncCompileMode(pool, ignore_errors=True):
            tuner.warmup(*args, **kwargs)
    except Exception:
        # Only time is lost: the tuner compiles what is missing, and says what is wrong with it.
        return
