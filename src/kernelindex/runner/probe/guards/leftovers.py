"""CPU time that a candidate's threads and processes spend after its call has returned."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SETTLE_S = 0.01  # a pool of OpenMP threads spins about this long before it sleeps
WINDOW_S = 0.02
LATE_S = 0.3  # some pools spin up to 200 ms; what computes after this is no spinning pool
BUSY_SHARE = 0.5
PYTHON_THREAD_NS = 1_000_000
PYTHON_THREAD_SHARE = 0.1
Spent = dict[tuple[str, int], int]  # CPU time by thread or process
_CLONE_CLOCK, _THREAD_CLOCK = 2, 4  # CPUCLOCK_SCHED and CPUCLOCK_PERTHREAD of Linux


@dataclass(frozen=True)
class Late:
    """Who kept computing, and for how long in the time that was watched."""

    who: str
    cpu_ns: int
    watched_ns: int


@dataclass(frozen=True)
class Mark:
    """CPU time at one moment: of all other threads before and after the look, and of each."""

    first_ns: int
    spent: Spent
    inside_ns: int


def mark_return() -> Mark:
    """Read the threads' clocks; to be called at once when the candidate has returned."""
    return Mark(others_ns(), _spent_by_threads(), others_ns())


def watch_after_return(
    call_ns: int, known: frozenset[int], mark: Mark | None = None
) -> Late | None:
    """Watch 30 ms after a call of ``call_ns``; 320 ms more only where something was busy.

    ``known`` are thread ids that were there before the candidate: the probe's own.
    """
    mark = mark or mark_return()
    before = mark.spent | _spent_below()
    time.sleep(SETTLE_S)
    settled = _spent()
    time.sleep(WINDOW_S)
    inside, after, last = others_ns() - mark.inside_ns, _spent(), others_ns()
    whole_ns = int((SETTLE_S + WINDOW_S) * 1e9)
    allowed = max(PYTHON_THREAD_NS, int(PYTHON_THREAD_SHARE * call_ns))
    # Threads that stay were read a little inside or outside: only one seen to go counts it all.
    gone = _threads(before | settled).keys() - after.keys()
    spent = last - mark.first_ns if gone else inside
    ended = spent - sum(_threads(after).values()) + sum(_threads(before, among=after).values())
    # One that still computes is named first: what it spends while it is read would count as ended.
    if late := _python_thread(_grown(before, after, known), allowed, whole_ns):
        return late
    if ended > allowed:
        return Late("a thread that then ended", ended, whole_ns)
    if not _busy(_grown(settled, after, known)):
        return None
    time.sleep(LATE_S)
    return _still_busy(known)


def others_ns() -> int:
    """CPU time of this process but for the thread that asks: looking into /proc takes its own."""
    return time.process_time_ns() - time.thread_time_ns()


def known_threads() -> frozenset[int]:
    """Ids of the threads there are now."""
    return frozenset(_ids("/proc/self/task"))


def _still_busy(known: frozenset[int]) -> Late | None:
    before = _spent()
    time.sleep(WINDOW_S)
    busiest = _busy(_grown(before, _spent(), known))
    if busiest is None:
        return None
    kind, identifier, cpu_ns = busiest
    return Late(f"{kind} {identifier}", cpu_ns, int(WINDOW_S * 1e9))


def _threads(spent: Spent, among: Spent | None = None) -> Spent:
    """The other threads of a reading, or those of them that are also in another."""
    asking = ("thread", threading.get_native_id())
    return {
        k: v
        for k, v in spent.items()
        if k[0] == "thread" and k != asking and (among is None or k in among)
    }


def _python_thread(grown: Spent, allowed: int, watched_ns: int) -> Late | None:
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    for (kind, identifier), cpu_ns in grown.items():
        if kind == "thread" and identifier in names and cpu_ns > allowed:
            return Late(f"Python thread {names[identifier]!r}", cpu_ns, watched_ns)
    return None


def _busy(grown: Spent) -> tuple[str, int, int] | None:
    rows = [(cpu_ns, *key) for key, cpu_ns in grown.items()]
    if not rows:
        return None
    cpu_ns, kind, identifier = max(rows)
    return (kind, identifier, cpu_ns) if cpu_ns > BUSY_SHARE * WINDOW_S * 1e9 else None


def _grown(before: Spent, after: Spent, known: frozenset[int]) -> Spent:
    own = threading.get_native_id()
    return {
        key: cpu_ns - before.get(key, 0)
        for key, cpu_ns in after.items()
        if key[1] != own and not (key[0] == "thread" and key[1] in known)
    }


def _spent() -> Spent:
    """CPU time so far (ns) of every thread of this process and every process below it."""
    return _spent_by_threads() | _spent_below()


def _spent_by_threads() -> Spent:
    return {("thread", tid): _clock_ns(tid, _THREAD_CLOCK) for tid in _ids("/proc/self/task")}


def _spent_below() -> Spent:
    return {("process", pid): _clock_ns(pid, 0) for pid in descendants(os.getpid())}


def _clock_ns(identifier: int, kind: int) -> int:
    try:
        return time.clock_gettime_ns((~identifier << 3) | _CLONE_CLOCK | kind)
    except OSError:  # it has ended
        return 0


def _ids(folder: str) -> list[int]:
    return [int(path.name) for path in Path(folder).iterdir() if path.name.isdigit()]


def descendants(root: int) -> list[int]:
    """Processes below ``root``, as /proc shows them now."""
    parents = {pid: _parent(pid) for pid in _ids("/proc")}
    found, wave = [], {root}
    while wave:
        wave = {pid for pid, parent in parents.items() if parent in wave}
        found += sorted(wave)
    return found


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])
