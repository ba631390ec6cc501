"""CPU time that a candidate's threads and processes spend after its call has returned."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTLE_S = 0.01  # a pool of OpenMP threads spins about this long before it sleeps
WINDOW_S = 0.02
LATE_S = 0.3  # some pools spin up to 200 ms; what computes after this is no spinning pool
BUSY_SHARE = 0.5
PROMPT_S = 1e-5
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
    """CPU time at one moment: of each thread, and then of all but the one that asks.

    ``python`` are the identities of threads that run Python; a joined thread no longer does.
    ``names`` are those of Python's own threads by their native id.
    """

    spent: Spent
    others_ns: int
    python: frozenset[int]
    names: dict[int | None, str]


def mark_return() -> Mark:
    """Read the threads' clocks; to be called at once when the candidate has returned."""
    python, names = frozenset(sys._current_frames()), _names()
    # The process clock lags by up to a tick of the scheduler (1 to 10 ms) for a thread that runs
    # on another CPU; a thread's own clock does not, and reading it brings the process clock up to
    # date. A joined thread may still run for some microseconds: without its clock read first, what
    # it computed before the return would show in the process clock after it.
    return Mark(_spent_by_threads(), others_ns(), python, names)


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
    now, after = mark_return(), _spent()
    # One that is just ending has no name any more, but its clock is still there.
    names = mark.names | now.names
    whole_ns = int((SETTLE_S + WINDOW_S) * 1e9)
    allowed = max(PYTHON_THREAD_NS, int(PYTHON_THREAD_SHARE * call_ns))
    # One that still computes is named first: its name says more.
    if late := _python_thread(_grown(before, after, known), names, allowed, whole_ns):
        return late
    gone = _threads(before | settled).keys() - after.keys()
    if not mark.python - now.python:  # only pools, which spin until their thread has ended
        allowed = max(allowed, len(gone) * int(SETTLE_S * 1e9))
    if (ended := _ended_ns(mark, now, after)) > allowed:
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


def _ended_ns(mark: Mark, now: Mark, after: Spent) -> int:
    """At least what threads that have ended spent since the mark; ``after`` was read after now.

    Threads that stay are read before the process clock at the mark and after it at the end: what
    they spend during either look makes the result less, never more.
    """
    stayed = _threads(after)
    then = _threads(mark.spent, among=stayed)
    return (now.others_ns - mark.others_ns) - (sum(stayed.values()) - sum(then.values()))


def _threads(spent: Spent, among: Spent | None = None) -> Spent:
    """The other threads of a reading, or those of them that are also in another."""
    asking = ("thread", threading.get_native_id())
    return {
        k: v
        for k, v in spent.items()
        if k[0] == "thread" and k != asking and (among is None or k in among)
    }


def _names() -> dict[int | None, str]:
    return {thread.native_id: thread.name for thread in threading.enumerate()}


def _python_thread(
    grown: Spent, names: dict[int | None, str], allowed: int, watched_ns: int
) -> Late | None:
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


@contextmanager
def _prompt_switches() -> Iterator[None]:
    """Get the GIL back at once.

    Reading /proc gives it up at every entry, and a thread that computes would keep it for 5 ms
    each time: a look would take longer than what it looks for.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(PROMPT_S)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


@_prompt_switches()
def _spent_by_threads() -> Spent:
    return _read("thread", _ids("/proc/self/task"), _THREAD_CLOCK)


@_prompt_switches()
def _spent_below() -> Spent:
    return _read("process", descendants(os.getpid()), 0)


def _read(kind: str, identifiers: list[int], clock: int) -> Spent:
    """Clocks of those that have not ended since they were listed.

    One that has must be absent, not zero: it would seem to stay, with its time before the mark
    taken for time after it.
    """
    spent = {}
    for identifier in identifiers:
        with suppress(OSError):
            number = (~identifier << 3) | _CLONE_CLOCK | clock
            spent[kind, identifier] = time.clock_gettime_ns(number)
    return spent


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
