"""Slices of rows of a case whose rows are independent, so that a reference fits in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.runner.judge.backend import Made

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernelindex.runner.operations.case import Case

__all__ = ["Part", "row_slices"]


@dataclass(frozen=True, slots=True)
class Part:
    """A slice of a case with its inputs; ``share`` is its part of the rows."""

    case: Case
    made: Made
    share: float

    def weight(self, output: str) -> float:
        """What the output's upstream gradient is worth in this slice: a mean is shared out."""
        rule = self.case.operation.rows
        return self.share if rule and rule.reduce.get(output) == "mean" else 1.0


def row_slices(case: Case, made: Made, rows: int | None) -> Iterator[Part]:
    """The case in slices of at most ``rows`` rows; whole where None or it has no rule for rows."""
    rule = case.operation.rows
    count = case.axes[rule.axis] if rule else 0
    if rule is None or rows is None or rows >= count:
        yield Part(case, made, 1.0)
        return
    for start in range(0, count, rows):
        stop = min(count, start + rows)
        inputs = _sliced(case, made.inputs, rule.axis, slice(start, stop))
        upstream = _sliced(case, made.upstream, rule.axis, slice(start, stop))
        smaller = case.with_axes({rule.axis: stop - start})
        yield Part(smaller, Made(inputs, upstream), (stop - start) / count)


def _sliced(case: Case, tensors: Mapping[str, Any], axis: str, rows: slice) -> dict[str, Any]:
    return {
        name: tensor[rows] if case.spec(name).shape[:1] == (axis,) else tensor
        for name, tensor in tensors.items()
    }
