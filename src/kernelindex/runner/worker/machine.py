"""Whether a plan can be measured on this machine at all, asked before anything is.

What the machine lacks, or the plan asks wrongly, is no candidate's fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kernelindex.errors import RequestError
from kernelindex.runner.operations.case import case_of
from kernelindex.runner.probe.timers.driver import Driver, DriverError
from kernelindex.runner.worker.resume import WorkerError
from kernelindex.runner.worker.watching import machine_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.plan import Plan, Point


class Refusal(NamedTuple):
    """Why a plan is not measured here: a code, and what was asked and what is there."""

    code: str
    text: str


def memory_of(device: str) -> int:
    """Bytes of memory of this machine (``cpu``) or of ``cuda:<n>``; raises DriverError."""
    if device == "cpu":
        return machine_memory_bytes()
    return Driver().device_memory(int(device.partition(":")[2]))


def require_machine(plan: Plan, memory: Callable[[str], int] = memory_of) -> None:
    """Raise WorkerError for a plan that cannot be measured here."""
    found = refusal_of(plan, memory)
    if found is not None:
        raise WorkerError(found.text, code=found.code)


def refusal_of(plan: Plan, memory: Callable[[str], int] = memory_of) -> Refusal | None:
    """Why this machine cannot run a plan; None where nothing speaks against it.

    ``run.device``: the device is not here. ``run.plan``: an operation does not take the axes,
    dtypes or draws of a point. ``run.size``: not even one set of inputs and outputs fits, so
    that only what certainly fails is refused.
    """
    try:
        had = memory(plan.device)
    except DriverError as error:
        text = f"{plan.device} is not on this machine: {error.message}"
        return Refusal("run.device", text)
    return next(filter(None, (_of_point(point, plan.device, had) for point in plan.points)), None)


def _of_point(point: Point, device: str, had: int) -> Refusal | None:
    try:
        case = case_of(point)
        for draw in point.draws:
            case.for_draw(draw)
    except RequestError as error:
        return Refusal("run.plan", f"{point.id}: {error.message}")
    if case.set_bytes <= had:
        return None
    return Refusal(
        "run.size",
        f"{point.id}: one set of inputs and outputs takes {case.set_bytes} bytes; {device}"
        f" has {had}, so choose smaller axes",
    )
