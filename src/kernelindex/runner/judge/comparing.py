"""How far an output is from the reference, block by block; for torch tensors and numpy arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernelindex.runner.operations.description import ToleranceSpec

__all__ = ["NOT_FINITE", "Comparison", "compare", "has_nonfinite"]

# Elements that are widened at once: 512 MiB in fp64, so that the judge fits beside candidates.
BLOCK = 1 << 26


@dataclass(frozen=True, slots=True)
class Comparison:
    """Errors of one output; relative ones are shares of the reference's norm.

    ``worst_row`` is of the row or expert ``worst_at``; ``max_rel`` is max |a - b| / (|b| + rms b);
    ``matched`` is the share of elements within ``max_rel``'s bound.
    """

    finite: bool
    frobenius: float
    worst_row: float
    worst_at: int
    max_abs: float
    max_rel: float
    matched: float


NOT_FINITE = Comparison(False, math.inf, math.inf, 0, math.inf, math.inf, 0.0)


@dataclass(slots=True)
class _Sums:
    difference: float = 0.0
    worst_row: float = 0.0
    worst_at: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    matched: int = 0


def compare(got: Any, want: Any, tolerance: ToleranceSpec, group: str) -> Comparison:
    """``got`` [any dtype, any device] against ``want`` [fp64 or fp32] of equal shape.

    ``group`` is a ``TensorSpec``'s. A NaN or infinity in ``got`` is an error whatever ``want``
    holds, unless the tolerance says ``match`` and ``want`` holds the same in its place.
    """
    count = math.prod(want.shape)
    if count == 0:
        return Comparison(True, 0.0, 0.0, 0, 0.0, 0.0, 1.0)
    got, want = _as_rows(got, group), _as_rows(want, group)
    blocks = list(_blocks(want.shape))
    total = sum(_squares(want[block], tolerance) for block in blocks)
    sums, rms = _Sums(), math.sqrt(total / count)
    row_floor = tolerance.row_floor * math.sqrt(total / want.shape[0])
    for block in blocks:
        pair = _pair(got[block], want[block], tolerance)
        if pair is None:
            return NOT_FINITE
        _add(sums, pair, block.start, rms, row_floor, _bound(tolerance))
    return Comparison(
        finite=True,
        frobenius=_ratio(math.sqrt(sums.difference), math.sqrt(total)),
        worst_row=sums.worst_row,
        worst_at=sums.worst_at,
        max_abs=sums.max_abs,
        max_rel=sums.max_rel,
        matched=sums.matched / count,
    )


def has_nonfinite(value: Any) -> bool:
    """Whether a floating tensor or array holds a NaN or an infinity."""
    return not bool((abs(value) < math.inf).all())


def _bound(tolerance: ToleranceSpec) -> float:
    return tolerance.max_rel if tolerance.max_rel is not None else 10 * tolerance.frobenius


def _as_rows(value: Any, group: str) -> Any:
    """Two axes: rows (or experts), and what each holds."""
    if group == "whole" or len(value.shape) < 2:
        return value.reshape(1, -1)
    if group == "leading":
        return value.reshape(value.shape[0], -1)
    return value.reshape(-1, value.shape[-1])


def _blocks(shape: Any) -> Iterator[slice]:
    step = max(1, BLOCK // max(1, shape[1]))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _pair(got: Any, want: Any, tolerance: ToleranceSpec) -> tuple[Any, Any] | None:
    """A block of both in the reference's dtype; None where ``got`` holds what it may not."""
    got = got.to(want.device).to(want.dtype) if hasattr(got, "data_ptr") else got.astype(want.dtype)
    if not has_nonfinite(got) and not has_nonfinite(want):
        return got, want
    if tolerance.nan != "match":
        return None
    same = (_is_nan(got) & _is_nan(want)) | (got == want)
    got, want = got + 0, want + 0
    got[same], want[same] = 0, 0
    return None if has_nonfinite(got) or has_nonfinite(want) else (got, want)


def _is_nan(value: Any) -> Any:
    return ~(abs(value) <= math.inf)


def _squares(want: Any, tolerance: ToleranceSpec) -> float:
    if tolerance.nan == "match":
        want = want[abs(want) < math.inf]
    return float((want * want).sum())


def _add(
    sums: _Sums, pair: tuple[Any, Any], start: int, rms: float, row_floor: float, bound: float
) -> None:
    got, want = pair
    apart, size = abs(got - want), abs(want) + rms
    sums.max_abs = max(sums.max_abs, float(apart.max()))
    sums.matched += int((apart <= bound * size).sum())
    sums.max_rel = max(sums.max_rel, _largest(apart, size))
    by_row = (apart * apart).sum(-1)
    sums.difference += float(by_row.sum())
    norms = (want * want).sum(-1) ** 0.5
    norms[norms < row_floor] = row_floor
    ratios = _divided(by_row**0.5, norms)
    worst = int(ratios.argmax())
    if float(ratios[worst]) > sums.worst_row:
        sums.worst_row, sums.worst_at = float(ratios[worst]), start + worst


def _largest(apart: Any, size: Any) -> float:
    return float(_divided(apart, size).max())


def _divided(part: Any, whole: Any) -> Any:
    """``part / whole``; where ``whole`` is 0, infinite unless ``part`` is 0 as well."""
    zero = whole == 0
    if not bool(zero.any()):
        return part / whole
    ratio = part / (whole + zero)
    ratio[zero & (part > 0)] = math.inf
    return ratio


def _ratio(part: float, whole: float) -> float:
    if whole == 0:
        return 0.0 if part == 0 else math.inf
    return part / whole
