"""Run a plan on this machine: the worker as a process of its own, told of as it goes."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import kernelindex
from kernelindex.errors import KernelIndexError, RequestError
from kernelindex.runner import batch_files
from kernelindex.runner.plan import plan_to_json
from kernelindex.runner.worker.__main__ import EXIT_REFUSED
from kernelindex.runner.worker.damage import set_damaged_aside
from kernelindex.runner.worker.machine import memory_of, refusal_of
from kernelindex.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex.runner.plan import Plan

    Tell = Callable[[int, str], None]

WORKER = "kernelindex.runner.worker"
POLL_SECONDS = 0.1
PATIENCE_SECONDS = 20.0
TAIL = 2000
_PR_SET_PDEATHSIG = 1


class WorkerError(KernelIndexError):
    """Raised when the worker ended without an outcome; the message has the end of its output."""

    code = "worker.failed"


def run_here(
    plan: Plan, folder: Path, *, tell: Tell | None = None, caches: Path | None = None
) -> None:
    """Run a plan into ``folder``, or take it up again where it was cut short.

    ``tell`` gets how many generations are done and the worker's newest line. In ``caches``
    code that was compiled is kept for the next batch. Interrupted,
    the worker is asked to stop and the batch keeps what it measured. What an earlier start left
    damaged is set aside, and told. Raises WorkerError where there is no outcome,
    and what ``check_machine`` and ``set_damaged_aside`` refuse.
    """
    check_machine(plan)
    for text in set_damaged_aside(plan, folder):
        if tell is not None:
            tell(0, text)
    folder.mkdir(parents=True, exist_ok=True)
    plan_path = folder.parent / f"{folder.name}.plan.json"
    write_whole(plan_path, plan_to_json(plan).encode())
    log_path = folder.parent / f"{folder.name}.log"
    with log_path.open("ab") as log:
        worker = _start(plan_path, folder, log.fileno(), caches)
        try:
            _follow(worker, folder / batch_files.JOURNAL, log_path, tell)
        except BaseException:
            _stop(worker)
            raise
    if worker.returncode == EXIT_REFUSED or not (folder / batch_files.OUTCOME).exists():
        tail = log_path.read_bytes()[-TAIL:].decode(errors="replace").strip()
        raise WorkerError(
            f"the worker ended with {worker.returncode} and no outcome; {log_path} ends: {tail}"
        )


def check_machine(plan: Plan, memory: Callable[[str], int] = memory_of) -> None:
    """Refuse here, with nothing written, what the worker would refuse: see ``machine``.

    Raises RequestError ``run.device``, ``run.plan`` and ``run.size``.
    """
    found = refusal_of(plan, memory)
    if found is not None:
        raise RequestError(found.text, code=found.code)


def _start(plan: Path, folder: Path, log: int, caches: Path | None) -> subprocess.Popen[bytes]:
    source = str(Path(kernelindex.__file__).parent.parent)
    command = [sys.executable, "-m", WORKER, str(plan), "--out", str(folder)]
    command += ["--caches", str(caches)] if caches else []
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        preexec_fn=_die_with_parent,  # noqa: PLW1509 (no thread is running yet)
    )


def _die_with_parent() -> None:
    """Killed, this process takes its worker along (Linux; elsewhere the worker ends itself)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _follow(worker: subprocess.Popen[bytes], journal: Path, log: Path, tell: Tell | None) -> None:
    entries, lines = Tail(journal), Tail(log)
    done, said = 0, ""
    while True:
        ended = worker.poll() is not None
        done += sum(_event(line, journal) == batch_files.FINISHED for line in entries.read())
        said = next(iter(reversed(lines.read())), said)
        if tell is not None:
            tell(done, said)
        if ended:
            return
        time.sleep(POLL_SECONDS)


def _event(line: str, journal: Path) -> str:
    """What a line of the journal tells of; raises WorkerError for one that is torn."""
    try:
        return str(json.loads(line)["event"])
    except (ValueError, KeyError, TypeError) as error:
        raise WorkerError(
            f"the worker's output ended in the middle of a line of {journal}; most likely the disk"
            " is full: make room there, or set TMPDIR to a folder on another disk",
            code="worker.torn",
        ) from error


class Tail:
    """The whole lines that a file got since it was read last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def read(self) -> list[str]:
        """New lines; none while the file is not there."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._at += whole
        return data[:whole].decode(errors="replace").splitlines()


def _stop(worker: subprocess.Popen[bytes]) -> None:
    """Ask, wait, then kill: the worker ends its candidates and writes its outcome."""
    worker.send_signal(signal.SIGINT)
    try:
        worker.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
