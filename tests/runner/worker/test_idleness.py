"""CPU time of a candidate's processes between its turns, those that have ended among them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from kernelindex.runner.worker import idleness as module
from kernelindex.runner.worker import process_table
from kernelindex.runner.worker.idleness import Idleness, spent_below, wait_until_quiet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BURN = """
import os, sys, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
"""

CHILDREN = """
def work():
    for _ in range(6):
        if os.fork() == 0:
            burn(0.03)
            os._exit(0)
        os.wait()
"""

# Each process starts the next one and ends; who adopts them waits for them, as the first process
# of a namespace does.
RELAY = """
import ctypes
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
def work():
    if os.fork() == 0:
        for _ in range(6):
            burn(0.03)
            if os.fork():
                os._exit(0)
        os._exit(0)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
"""

POOL = """
import threading, time
def spin():
    until = time.monotonic() + 0.15
    while time.monotonic() < until:
        pass
def work():
    threading.Thread(target=spin).start()
"""
BUSY = """
def work():
    if os.fork() == 0:
        while True:
            pass
"""

LOOP = """
for line in sys.stdin:
    work()
    print("done", flush=True)
"""


@contextmanager
def candidate(program: str) -> Iterator[Any]:
    """A process that works for 0.18 s of CPU time in children whenever it is told to."""
    command = [sys.executable, "-c", BURN + program + LOOP]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.kill()


def work(process: Any) -> None:
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


@pytest.mark.parametrize("program", [CHILDREN, RELAY])
def test_processes_that_ended_count(program: str) -> None:
    with candidate(program) as process:
        work(process)
        before = spent_below(process.pid)
        work(process)
        grown = spent_below(process.pid) - before
    assert 0.12e9 < grown < 0.54e9


def test_a_relay_between_turns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Others' turns take a second, however long the work takes here: only CPU time is measured.
    seconds = iter((0, 1_000_000_000))
    clocks = SimpleNamespace(
        monotonic_ns=lambda: next(seconds),
        clock_gettime_ns=time.clock_gettime_ns,
        sleep=time.sleep,
    )
    monkeypatch.setattr("kernelindex.runner.worker.idleness.time", clocks)
    idleness = Idleness()
    with candidate(RELAY) as process:
        member: Any = SimpleNamespace(id="m", process=process)
        idleness.leave(member)
        work(process)
        idleness.enter(member)
        refused = idleness.verdict(member)
    assert refused is not None
    assert refused.code == "slows_next"


@pytest.mark.parametrize("program", [CHILDREN, POOL], ids=["children", "pool"])
def test_what_ends_soon_after_a_turn_is_not_the_others_burden(program: str) -> None:
    """OpenBLAS spins for 0.1 s a thread: on many cores that is a good part of the others' turns."""
    idleness = Idleness()
    with candidate(program) as process:
        member: Any = SimpleNamespace(id="m", process=process)
        for _ in range(3):
            work(process)
            idleness.leave(member)
            time.sleep(0.1)
            idleness.enter(member)
        assert idleness.verdict(member) is None
        assert idleness.cpu_ns["m"] < 0.03e9


def test_who_starts_something_is_quiet_once_and_who_never_ends_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with candidate(POOL) as process:
        work(process)
        assert wait_until_quiet(process.pid)
    monkeypatch.setattr(module, "_LONGEST_S", 1.0)
    with candidate(BUSY) as process:
        work(process)
        try:
            assert not wait_until_quiet(process.pid)
        finally:
            for one in process_table.descendants(process_table.read_table(), process.pid):
                if one != process.pid:
                    os.kill(one, signal.SIGKILL)
