"""How a kernel is started: `start(kernel, grid)(*arguments, **options)`.

The same passes launch their kernels or, before the first launch, only have them compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

Start = Callable[[Any, tuple[int, ...]], Callable[..., Any]]

launch: Start = operator.getitem  # kernel[grid]; no call of Python's, which ten launches would feel


def compile_only(kernel: Any, grid: tuple[int, ...]) -> Callable[..., Any]:
    """Compiles for these arguments what is not compiled yet; nothing runs."""
    return partial(kernel.warmup, grid=grid)
