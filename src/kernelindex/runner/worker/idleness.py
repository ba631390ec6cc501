"""CPU time that a candidate's processes take while it is not their turn.

An honest candidate waits for its next request. One that burdens the others is seen by its own
clock, which a busy machine does not disturb; the anchor after it shows only what is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex.runner.channel import Refused
from kernelindex.runner.worker import process_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.worker.members import Member

_LEAST_CPU_NS = 100_000_000
_LEAST_SHARE = 0.05
_SCHEDULER_CLOCK = 2  # CPUCLOCK_SCHED of Linux: the clock of one process, in ns

Spent = dict[int, int]


@dataclass(slots=True)
class Idleness:
    """CPU and wall time between turns, by member."""

    _left: dict[str, tuple[int, Spent]] = field(default_factory=dict)
    cpu_ns: dict[str, int] = field(default_factory=dict)
    wall_ns: dict[str, int] = field(default_factory=dict)

    def leave(self, member: Member) -> None:
        """Its turn is over."""
        self._left[member.id] = (time.monotonic_ns(), spent_below(member.process.pid))

    def enter(self, member: Member) -> None:
        """Its turn begins: what it spent since the last one is added up."""
        if member.id not in self._left:
            return
        left_ns, before = self._left.pop(member.id)
        now = spent_below(member.process.pid)
        grown = sum(cpu - before.get(pid, 0) for pid, cpu in now.items())
        self.cpu_ns[member.id] = self.cpu_ns.get(member.id, 0) + grown
        waited = time.monotonic_ns() - left_ns
        self.wall_ns[member.id] = self.wall_ns.get(member.id, 0) + waited

    def verdict(self, member: Member) -> Refused | None:
        """A refusal where it took 0.1 s and a twentieth of the others' time."""
        cpu, wall = self.cpu_ns.get(member.id, 0), self.wall_ns.get(member.id, 0)
        if cpu < _LEAST_CPU_NS or cpu < _LEAST_SHARE * wall:
            return None
        text = f"its processes took {cpu / 1e9:.2f} s of CPU time in {wall / 1e9:.2f} s of others' "
        return Refused("suspected_reward_hack", "slows_next", f"{text}turns; wanted none")


def spent_below(pid: int) -> Spent:
    """CPU time (ns) so far of a process and every process below it; ended ones are left out."""
    found: Mapping[int, int | None] = {
        one: _clock_ns(one) for one in process_table.descendants(process_table.read_table(), pid)
    }
    return {one: spent for one, spent in found.items() if spent is not None}


def _clock_ns(pid: int) -> int | None:
    try:
        return time.clock_gettime_ns((~pid << 3) | _SCHEDULER_CLOCK)
    except OSError:
        return None
