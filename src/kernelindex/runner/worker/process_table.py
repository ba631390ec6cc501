"""Processes of this machine as /proc shows them: parents, memory, what was left behind."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Row:
    """One process: its parent, session, whether it is a zombie, and resident memory.

    ``spent_ns`` is its own CPU time and ``ended_ns`` that of children it has waited for, of theirs
    too; both in ticks of the kernel's, 10 ms on most machines.
    """

    pid: int
    parent: int
    session: int
    zombie: bool
    resident_bytes: int
    spent_ns: int = 0
    ended_ns: int = 0


def read_table() -> dict[int, Row]:
    """All processes to be seen, by number."""
    rows = (_read_row(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return {row.pid: row for row in rows if row is not None}


def _read_row(name: str) -> Row | None:
    try:
        text = Path("/proc", name, "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command's name is in parentheses and may hold anything.
    fields = text[text.rfind(")") + 2 :].split()
    resident = int(fields[21]) * _PAGE_BYTES
    own, ended = (sum(map(int, fields[at : at + 2])) * _TICK_NS for at in (11, 13))
    return Row(int(name), int(fields[1]), int(fields[3]), fields[0] == "Z", resident, own, ended)


def descendants(table: Mapping[int, Row], root: int) -> set[int]:
    """``root`` and every process below it."""
    children: dict[int, list[int]] = {}
    for row in table.values():
        children.setdefault(row.parent, []).append(row.pid)
    found, waiting = set(), [root]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return found


def resident_bytes(table: Mapping[int, Row], root: int) -> int:
    """Memory of a process and all below it; shared pages count in each."""
    return sum(table[pid].resident_bytes for pid in descendants(table, root) if pid in table)


def kill_all(pids: Iterable[int]) -> None:
    """Send SIGKILL to each that still is there."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def adopted(table: Mapping[int, Row], known: Iterable[int]) -> set[int]:
    """Children of this process that it did not start: what lost its parent below it."""
    own = os.getpid()
    started = set(known)
    return {row.pid for row in table.values() if row.parent == own and row.pid not in started}


def reap(pids: Iterable[int]) -> None:
    """Collect ended children so that no zombies stay."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
