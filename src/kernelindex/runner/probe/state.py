"""What one probe holds, and one checked call as ``guards`` and ``audits`` see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.operations.case import Case
    from kernelindex.runner.plan import Candidate, Point
    from kernelindex.runner.probe.measuring import Meter
    from kernelindex.runner.probe.sets import Sets
    from kernelindex.runner.probe.work import Work

# A fill byte of 0xFF reads as NaN in bf16, fp16, fp32 and fp64, and as -1 in integers.
POISON_BYTE = 0xFF


@dataclass(slots=True)
class CheckedCall:
    """One untimed, checked call: filled before, completed after the candidate returned.

    ``inputs``     what the candidate is given by name: tensors (leaves, or non-leaf weights
                   where the point says so) or numpy arrays
    ``leaves``     differentiable inputs by name: the tensor whose ``.grad`` is the gradient
    ``upstream``   upstream gradients by output name; empty in ``forward`` and ``inference``
    ``result``     what the candidate returned, as it was; None before the call. In ``backward``
                   it is the result of the forward that ran outside
    ``outputs``    the result by output name, where it could be named; else empty
    ``gradients``  ``grad_<input>`` by name, after ``backward`` and ``full``
    ``poisoned``   whether free memory was filled with ``POISON_BYTE`` before
    ``notes``      for the guards: what they saw before the call
    """

    timed_pass: str
    device: str
    case: Case
    inputs: Mapping[str, Any]
    leaves: Mapping[str, Any]
    upstream: Mapping[str, Any]
    poisoned: bool = False
    result: Any = None
    outputs: dict[str, Any] = field(default_factory=dict)
    gradients: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Session:
    """Everything of one probe, in the order the commands fill it.

    ``rules`` are the plan's, snake_case. ``function`` is the candidate's. ``sets`` holds the
    rotating input sets on the device, ``meter`` the timer with its cache and load regimes.
    ``work(pass)`` makes the calls of a pass: see ``probe.work.Work``.
    """

    device: str
    rules: Mapping[str, Any]
    meter: Meter
    point: Point | None = None
    candidate: Candidate | None = None
    case: Case | None = None
    function: Callable[..., Any] | None = None
    prepare: Callable[..., Any] | None = None
    sets: Sets | None = None
    works: dict[str, Work] = field(default_factory=dict)
    setup_ns: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
