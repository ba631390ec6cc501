"""A thread that looks at every process once a second and ends one that takes too much."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.runner.channel import Refused
from kernelindex.runner.sandbox.kernel import adopt_orphans
from kernelindex.runner.worker import process_table

if TYPE_CHECKING:
    from kernelindex.runner.worker.processes import Process

_EVERY_SECONDS = 1.0
_MEMORY_SHARE = 0.6
_FREE_DISK_BYTES = 1 << 30
_DISK_EVERY = 5


class Watch:
    """Memory (resident, with children) and disk of the processes in its care.

    The thread starts with the first of them: a batch that is opened and never run leaves none.
    """

    def __init__(self, memory_bytes: int | None = None, disk_bytes: int = 64 << 30) -> None:
        self.memory_bytes = memory_bytes or int(machine_memory_bytes() * _MEMORY_SHARE)
        self.disk_bytes = disk_bytes
        self._processes: list[Process] = []
        adopt_orphans()
        self._others = process_table.adopted(process_table.read_table(), ())
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, process: Process) -> None:
        """Take a process into care."""
        self._processes.append(process)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def remove(self, process: Process) -> None:
        """Let go of a stopped process."""
        if process in self._processes:
            self._processes.remove(process)

    @property
    def alive(self) -> int:
        """How many processes in care run."""
        return sum(one.alive for one in self._processes)

    def sweep(self) -> int:
        """Kill what lost its parent below this process; how many there were."""
        known = {one.pid for one in self._processes} | self._others
        table = process_table.read_table()
        found = process_table.adopted(table, known)
        live = {pid for pid in found if not table[pid].zombie}
        process_table.kill_all(live)
        process_table.reap(found)
        return len(live)

    def close(self) -> None:
        """Stop looking."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        turn = 0
        while not self._end.wait(_EVERY_SECONDS):
            turn += 1
            table = process_table.read_table()
            for process in list(self._processes):
                if process.alive:
                    self._look(process, table, disk=turn % _DISK_EVERY == 0)

    def _look(self, process: Process, table: dict[int, process_table.Row], *, disk: bool) -> None:
        resident = process_table.resident_bytes(table, process.pid)
        allowed = min(self.memory_bytes, process.memory_bytes or self.memory_bytes)
        if resident > allowed:
            text = f"{resident} bytes resident; {allowed} are allowed"
            process.condemn(Refused("resource_exceeded", "memory_exhausted", text))
        if disk and _disk_is_short(process.place.root):
            used = process.place.used_bytes()
            if used > self.disk_bytes or used > _FREE_DISK_BYTES:
                text = f"{used} bytes written and the disk is nearly full"
                process.condemn(Refused("resource_exceeded", "disk_exhausted", text))


def _disk_is_short(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < _FREE_DISK_BYTES


def machine_memory_bytes() -> int:
    """Memory of this machine, or of the control group where that has less."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return whole
    return min(whole, int(limit)) if limit.isdigit() else whole
