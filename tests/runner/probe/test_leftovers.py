"""Threads' time after a return is told from their time before it, by clocks that lag."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from kernelindex.runner.probe.guards import leftovers
from kernelindex.runner.probe.guards.leftovers import (
    Late,
    mark_return,
    watch_after_return,
)

MS = 1_000_000
CALL_NS = MS
OTHER, POOL = 1 << 23, (1 << 23) + 1  # Linux gives no thread an id of 2^22 or more


class Clocks:
    """Clocks as Linux keeps them.

    The process clock learns what a running thread has spent when that thread's own clock is read
    or the thread has ended; between ticks it lags.
    """

    def __init__(self, *running: int) -> None:
        self.spent = dict.fromkeys((threading.get_native_id(), *running), 0)
        self.noted = dict(self.spent)
        self.listed: list[int] = []  # ended since they were listed
        self.python = {OTHER}
        self.spinning: int | None = None  # spends a little whenever a clock is read
        self.ended_ns = 0
        self.sleeps: Iterator[Callable[[], object]] = iter(())

    def spend(self, tid: int, cpu_ns: int) -> None:
        self.spent[tid] += cpu_ns

    def end(self, tid: int, *, listed: bool = False) -> None:
        self.ended_ns += self.spent.pop(tid)
        del self.noted[tid]
        self.python.discard(tid)
        self.listed += [tid] if listed else []

    def clock_gettime_ns(self, number: int) -> int:
        tid = ~(number >> 3)
        if tid not in self.spent:
            raise ProcessLookupError(tid)
        if self.spinning is not None:
            self.spend(self.spinning, MS)
        self.noted[tid] = self.spent[tid]
        return self.spent[tid]

    def process_time_ns(self) -> int:
        return self.ended_ns + sum(self.noted.values())

    def thread_time_ns(self) -> int:
        return self.spent[threading.get_native_id()]

    def sleep(self, _seconds: float) -> None:
        next(self.sleeps, lambda: None)()

    def ids(self, folder: str) -> list[int]:
        return [*self.spent, *self.listed] if folder.endswith("task") else []


def watched(clocks: Clocks, monkeypatch: pytest.MonkeyPatch, *sleeps: Callable[[], object]) -> Late:
    frames = SimpleNamespace(
        _current_frames=lambda: dict.fromkeys(clocks.python),
        getswitchinterval=sys.getswitchinterval,
        setswitchinterval=sys.setswitchinterval,
    )
    clocks.sleeps = iter(sleeps)
    monkeypatch.setattr(leftovers, "time", clocks)
    monkeypatch.setattr(leftovers, "sys", frames)
    monkeypatch.setattr(leftovers, "_ids", clocks.ids)
    late = watch_after_return(CALL_NS, frozenset(), mark_return())
    return late or Late("nobody", 0, 0)


def test_time_before_the_return_is_not_taken_for_later_when_the_process_clock_lags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = Clocks(OTHER)
    clocks.python.clear()  # joined, and about to end
    clocks.spend(OTHER, 3 * MS)
    assert clocks.process_time_ns() == 0
    late = watched(clocks, monkeypatch, lambda: clocks.end(OTHER))
    assert late.who == "nobody"


def test_time_after_the_return_of_a_thread_that_then_ends_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = Clocks(OTHER)
    clocks.spend(OTHER, 5 * MS)

    def compute() -> None:
        clocks.spend(OTHER, 2 * MS)
        clocks.end(OTHER)

    assert watched(clocks, monkeypatch, compute) == Late(
        "a thread that then ended", 2 * MS, 30 * MS
    )


@pytest.mark.parametrize(
    ("spun_ns", "who"), [(3 * MS, "nobody"), (25 * MS, "a thread that then ended")]
)
def test_a_pool_may_spin_until_the_thread_that_had_it_has_ended(
    spun_ns: int, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = Clocks(OTHER, POOL)
    clocks.python.clear()

    def spin() -> None:
        clocks.spend(POOL, spun_ns)
        clocks.end(POOL)
        clocks.end(OTHER)

    assert watched(clocks, monkeypatch, spin).who == who


def test_what_a_staying_thread_spends_while_clocks_are_read_has_not_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = Clocks(OTHER, POOL)
    clocks.spinning = POOL
    late = watched(clocks, monkeypatch, lambda: clocks.end(OTHER))
    assert late.who == "nobody"


def test_a_thread_that_ends_while_it_is_read_keeps_its_time_before_the_mark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = Clocks(OTHER)
    clocks.spend(OTHER, 8 * MS)
    late = watched(clocks, monkeypatch, lambda: None, lambda: clocks.end(OTHER, listed=True))
    assert late.who == "nobody"


def test_a_thread_that_is_just_ending_is_known_by_the_name_it_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = Clocks(OTHER)
    alive = [SimpleNamespace(native_id=OTHER, name="late")]
    monkeypatch.setattr(threading, "enumerate", lambda: list(alive))

    def finish() -> None:
        clocks.spend(OTHER, 2 * MS)
        clocks.python.discard(OTHER)
        alive.clear()

    late = watched(clocks, monkeypatch, finish)
    assert late == Late("Python thread 'late'", 2 * MS, 30 * MS)


def test_switches_are_prompt_while_threads_and_processes_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, seen = sys.getswitchinterval(), []

    def ids(_folder: str) -> list[int]:
        seen.append(sys.getswitchinterval())
        return []

    monkeypatch.setattr(leftovers, "_ids", ids)
    watch_after_return(CALL_NS, frozenset())
    assert seen == [pytest.approx(leftovers.PROMPT_S)] * len(seen)
    assert len(seen) > 1
    assert sys.getswitchinterval() == usual
