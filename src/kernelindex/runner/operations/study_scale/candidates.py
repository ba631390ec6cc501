"""The same result with and without a known share of more work, in one kernel each.

Every function takes x [rows + extra, columns] with extra = rows * percent / 100, the percent in
its name, and returns [rows, columns]. ``more`` scales the extra rows too and leaves them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = ["less_3", "less_8", "more_3", "more_8", "numpy_less_100", "numpy_more_100"]


def less_3(x: torch.Tensor) -> torch.Tensor:
    """The rows asked for, of 3 % more."""
    return x[: _asked(x, 3)] * 2


def more_3(x: torch.Tensor) -> torch.Tensor:
    """3 % more bytes than ``less_3``."""
    return (x * 2)[: _asked(x, 3)]


def less_8(x: torch.Tensor) -> torch.Tensor:
    """The rows asked for, of 8 % more."""
    return x[: _asked(x, 8)] * 2


def more_8(x: torch.Tensor) -> torch.Tensor:
    """8 % more bytes than ``less_8``."""
    return (x * 2)[: _asked(x, 8)]


def numpy_less_100(x: Any) -> Any:
    """The rows asked for, of twice as many, in numpy."""
    return x[: _asked(x, 100)] * x.dtype.type(2)


def numpy_more_100(x: Any) -> Any:
    """Twice the bytes of ``numpy_less_100``."""
    return (x * x.dtype.type(2))[: _asked(x, 100)]


def _asked(x: Any, percent: int) -> int:
    return int(x.shape[0]) * 100 // (100 + percent)
