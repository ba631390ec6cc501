"""Clocks that time a call: device events where there is a device, else the host's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

Step = Callable[[], object]
Offer = Callable[[int, Any], None]


def ignore(_call: int, _result: Any) -> None:
    """Nothing of a call is wanted."""


@dataclass(slots=True)
class Taken:
    """What one run of samples gave.

    ``samples_ns``  time of each call
    ``host_ns``     host time from the start mark to the end mark of each call: issuing it
    ``filled``      calls whose start mark the device had not reached when they were wholly
                    queued, so that no gap of the host can be inside; None on a host timer
    ``timed_ns``    the host's wall clock round all of it
    ``last``        what the last call returned, until the next is ready: freeing is not timed
    ``gaps``        what held the device before calls, as it travels (``timers.gaps``)
    """

    samples_ns: list[float] = field(default_factory=list)
    host_ns: list[int] = field(default_factory=list)
    filled: int | None = None
    timed_ns: int = 0
    batch: int = 1
    last: Any = None
    gaps: dict[str, Any] = field(default_factory=dict)


class Timer(Protocol):
    """Times calls on one device.

    ``ready(i)`` makes call ``i`` ready (not timed) and returns it; ``watch`` is called now and
    then while the host only waits. ``hold_ns`` keeps a device busy before every call, and
    ``lead_ns`` more before the first, so that the host is ahead; a host timer needs neither.
    ``worked`` asks for work of a loaded card in place of spinning, where the plan's rule has it.
    ``offer`` is told, untimed, of every sample's last call by its number, and what it returned.
    """

    name: str
    tick_ns: float

    def take(
        self,
        count: int,
        ready: Callable[[int], Step],
        *,
        cold: bool,
        hold_ns: float = 0.0,
        lead_ns: float = 0.0,
        watch: Step | None = None,
        worked: bool = False,
        offer: Offer = ignore,
    ) -> Taken:
        """Time ``count`` calls one by one."""

    def to_fields(self) -> dict[str, Any]:
        """What it is, as it travels."""

    def synchronize(self) -> None:
        """Wait until the device has done all its work."""
