"""CPU time that a candidate's processes take while it is not their turn.

An honest candidate waits for its next request. One that burdens the others is seen by its own
clock, which a busy machine does not disturb; the anchor after it shows only what is left.

Processes that have ended count by those that waited for them, at the latest the first one of the
candidate's namespace: else a relay of short-lived ones would never be seen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex.runner.channel import Refused
from kernelindex.runner.worker import process_table

if TYPE_CHECKING:
    from kernelindex.runner.worker.members import Member

_LEAST_CPU_NS = 100_000_000
_LEAST_SHARE = 0.05
_SCHEDULER_CLOCK = 2  # CPUCLOCK_SCHED of Linux: the clock of one process, in ns

_LOOKS = 5
_QUIET_S, _LONGEST_S = 0.3, 30.0
_LOOK_S, _SPUN_NS, _SPIN_S = 0.01, 5_000_000, 0.3  # OpenBLAS spins for 0.1 s, others for 0.2


@dataclass(slots=True)
class Idleness:
    """CPU and wall time between turns, by member."""

    _left: dict[str, tuple[int, int]] = field(default_factory=dict)
    cpu_ns: dict[str, int] = field(default_factory=dict)
    wall_ns: dict[str, int] = field(default_factory=dict)

    def leave(self, member: Member) -> None:
        """Its turn is over, once a pool that only spins for a while has stopped."""
        let_pools_stop(member.process.pid)
        self._left[member.id] = (time.monotonic_ns(), spent_below(member.process.pid))

    def enter(self, member: Member) -> None:
        """Its turn begins: what it spent since the last one is added up."""
        if member.id not in self._left:
            return
        left_ns, before = self._left.pop(member.id)
        now = spent_below(member.process.pid)
        self.cpu_ns[member.id] = self.cpu_ns.get(member.id, 0) + max(0, now - before)
        waited = time.monotonic_ns() - left_ns
        self.wall_ns[member.id] = self.wall_ns.get(member.id, 0) + waited

    def verdict(self, member: Member) -> Refused | None:
        """A refusal where it took 0.1 s and a twentieth of the others' time."""
        cpu, wall = self.cpu_ns.get(member.id, 0), self.wall_ns.get(member.id, 0)
        if cpu < _LEAST_CPU_NS or cpu < _LEAST_SHARE * wall:
            return None
        text = f"its processes took {cpu / 1e9:.2f} s of CPU time in {wall / 1e9:.2f} s of others' "
        return Refused("suspected_reward_hack", "slows_next", f"{text}turns; wanted none")


def spent_below(pid: int) -> int:
    """CPU time (ns) so far of a process and of every process that is or was below it.

    A process that ends meanwhile would be missing now and appear later: then it is read again.
    """
    table = process_table.read_table()
    for _ in range(_LOOKS):
        rows = [table[one] for one in process_table.descendants(table, pid) if one in table]
        spent = sum(_own_ns(row) + row.ended_ns for row in rows)
        table = process_table.read_table()
        if all(_same(row, table.get(row.pid)) for row in rows):
            break
    return spent


def let_pools_stop(pid: int) -> None:
    """Wait 0.3 s where a process or one below it computes on after its turn.

    A pool of threads that spins is idle by then, and each of many cores counts; who goes on
    computing is seen by what it spends in the others' turns.
    """
    before = spent_below(pid)
    time.sleep(_LOOK_S)
    if spent_below(pid) - before > _SPUN_NS:
        time.sleep(_SPIN_S)


def wait_until_quiet(pid: int) -> bool:
    """Whether a process and those below it take no CPU time for 0.3 s, at some time within 30 s."""
    until = time.monotonic() + _LONGEST_S
    before = spent_below(pid)
    while time.monotonic() < until:
        time.sleep(_QUIET_S)
        now = spent_below(pid)
        if now - before < _LEAST_SHARE * _QUIET_S * 1e9:
            return True
        before = now
    return False


def _same(before: process_table.Row, after: process_table.Row | None) -> bool:
    return after is not None and after.ended_ns == before.ended_ns


def _own_ns(row: process_table.Row) -> int:
    """By the process's clock, or by its ticks where that is gone."""
    try:
        return time.clock_gettime_ns((~row.pid << 3) | _SCHEDULER_CLOCK)
    except OSError:
        return row.spent_ns
