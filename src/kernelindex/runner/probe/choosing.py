"""The timed call that may be judged: drawn once it was made, so that nobody can know it before.

A request says how many calls there will be, and what a process holds can be read from within it.
So neither is the last call the one, nor does a request say whether any is going to be judged: one
of every run of calls is kept, and asked for afterwards or not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex.runner.probe.gradients import bind_gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.probe.work import Work


@dataclass(frozen=True, slots=True)
class Kept:
    """Outputs and gradients of one call on a set of inputs, out of reach of later calls."""

    set: int
    outputs: Mapping[str, Any]
    gradients: Mapping[str, Any]


def draw_unit(urandom: Callable[[int], bytes] = os.urandom) -> float:
    """A number in [0, 1) that no state in this process foretells."""
    return int.from_bytes(urandom(7), "little") / 2.0**56


@dataclass(slots=True)
class Choice:
    """One call of a run, every one as likely: a reservoir of one (Vitter, 1985, algorithm R)."""

    work: Work
    set_of: Callable[[int], int]
    draw: Callable[[], float] = draw_unit
    kept: Kept | None = field(default=None, init=False)
    _seen: int = field(default=0, init=False)

    def offer(self, call: int, result: Any) -> None:
        """A call that was just made, by its number in the run."""
        self._seen += 1
        if self.draw() * self._seen < 1.0:
            self.kept = None  # its memory first
            self.kept = keep_call(self.work, self.set_of(call), result)


def keep_call(work: Work, index: int, result: Any) -> Kept:
    """What a call left, copied where the next one writes over it.

    Without its autograd graph, whose saved tensors would take memory from those to come.
    """
    outputs, gradients = work.collect(index, result)
    return Kept(
        index,
        {name: _hold(one, copy=work.reuses) for name, one in outputs.items()},
        {name: _hold(one, copy=work.reuses) for name, one in gradients.items()},
    )


def _hold(value: Any, *, copy: bool) -> Any:
    if not hasattr(value, "untyped_storage"):
        return value.copy() if copy else value
    torch = bind_gradients()
    with torch.untouched():
        held = torch.detach(value)
        return torch.clone(held) if copy else held
