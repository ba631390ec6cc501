"""The measured shapes around an unmeasured one, and whether they agree on the leader.

No latency is invented between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredShape:
    """One measured point. ``leader`` is the line that leads alone there, if one does."""

    shape_key: str
    axes: Mapping[str, int]
    leader: str | None = None
    unbeaten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """The nearest measured values below and above on one axis, all other axes equal.

    ``agree`` is True where both sides exist and have the same single leader, False where
    they have different ones, None where that cannot be said.
    """

    axis: str
    wanted: int
    below: MeasuredShape | None
    above: MeasuredShape | None

    @property
    def agree(self) -> bool | None:
        """Whether the two sides have the same leader."""
        if self.below is None or self.above is None:
            return None
        if self.below.leader is None or self.above.leader is None:
            return None
        return self.below.leader == self.above.leader

    @property
    def leader(self) -> str | None:
        """The line that leads on both sides, if they agree."""
        return self.below.leader if self.below and self.agree else None


def find_neighbours(
    wanted: Mapping[str, int], measured: Iterable[MeasuredShape]
) -> tuple[Bracket, ...]:
    """The measured shapes that bracket ``wanted`` on each axis, in the order of its axes.

    Only shapes with the same axes and equal values on all but one of them count; an
    axis on which there is none has no bracket. Give shapes of one operation, dtype,
    pass, protocol and device.
    """
    by_axis: dict[str, list[MeasuredShape]] = {}
    for shape in measured:
        axis = _only_difference(wanted, shape.axes)
        if axis is not None:
            by_axis.setdefault(axis, []).append(shape)
    return tuple(_bracket(axis, wanted[axis], by_axis[axis]) for axis in wanted if axis in by_axis)


def agreed_leader(brackets: Sequence[Bracket]) -> str | None:
    """The line that leads on both sides of every two-sided bracket; ``None`` otherwise."""
    closed = [bracket for bracket in brackets if bracket.below and bracket.above]
    leaders = {bracket.leader for bracket in closed}
    return leaders.pop() if len(leaders) == 1 else None


def _only_difference(wanted: Mapping[str, int], has: Mapping[str, int]) -> str | None:
    if wanted.keys() != has.keys():
        return None
    differing = [axis for axis, value in wanted.items() if has[axis] != value]
    return differing[0] if len(differing) == 1 else None


def _bracket(axis: str, value: int, shapes: Sequence[MeasuredShape]) -> Bracket:
    below = [shape for shape in shapes if shape.axes[axis] < value]
    above = [shape for shape in shapes if shape.axes[axis] > value]

    def order(shape: MeasuredShape) -> tuple[int, str]:
        return abs(shape.axes[axis] - value), shape.shape_key

    return Bracket(
        axis=axis,
        wanted=value,
        below=min(below, key=order, default=None),
        above=min(above, key=order, default=None),
    )
