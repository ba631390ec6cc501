"""Run the worker on a plan and bring its folder back as bytes.

Standard library only: a Ray cluster gets this module by value, and its machines need
nothing of KernelIndex installed.
"""

from __future__ import annotations

import ctypes
import io
import os
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKER = "kernelindex.runner.worker"
MAX_RESULT_BYTES = 1 << 30
_PR_SET_PDEATHSIG = 1
_TAIL = 2000
LEFT_BEHIND = frozenset(("seed.secret",))


class WorkError(RuntimeError):
    """Raised when the worker left no batch folder; the text holds the end of its output."""


def perform(source: bytes, plan: str, files: Mapping[str, bytes]) -> tuple[bytes, str]:
    """Run one plan with a source tree shipped along: (the packed batch folder, host name)."""
    with tempfile.TemporaryDirectory(prefix="ki-task-") as name:
        base = Path(name)
        unpack_tree(source, base / "src")
        run_worker(base / "src", write_plan(base / "plan", plan, files), base / "out")
        return pack_tree(base / "out", LEFT_BEHIND), socket.gethostname()


def write_plan(folder: Path, plan: str, files: Mapping[str, bytes]) -> Path:
    """The plan and the candidates' files beside it; refuses a path that leads elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in files.items():
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts:
            raise WorkError(f"{name}: a candidate's file lies inside the plan's folder")
        (folder / parts).parent.mkdir(parents=True, exist_ok=True)
        (folder / parts).write_bytes(body)
    path = folder / "plan.json"
    path.write_text(plan)
    return path


def run_worker(source: Path, plan: Path, out: Path) -> None:
    """The worker as a process of its own, killed when this one dies; raises WorkError."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-m", WORKER, str(plan), "--out", str(out)]
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_die_with_parent,
        check=False,
    )
    if not (out / "outcome.json").exists():
        tail = done.stdout[-_TAIL:].decode(errors="replace")
        raise WorkError(f"the worker ended with {done.returncode} and no outcome: {tail}")


def pack_tree(folder: Path, without: frozenset[str] = frozenset()) -> bytes:
    """A folder's files as a compressed archive; equal trees give equal bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in without:
                archive.add(path, str(path.relative_to(folder)), filter=_plain)
    return buffer.getvalue()


def unpack_tree(data: bytes, folder: Path) -> None:
    """Unpack ``pack_tree``'s bytes; links, devices, outside paths and too much are refused.

    By hand: Python has filters for archives only from 3.11.4 on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        members = archive.getmembers()
        if sum(one.size for one in members) > MAX_RESULT_BYTES:
            raise WorkError(f"the archive unpacks to more than {MAX_RESULT_BYTES} bytes")
        for member in members:
            path = PurePosixPath(member.name)
            file = archive.extractfile(member) if member.isreg() else None
            if file is None or path.is_absolute() or ".." in path.parts:
                raise WorkError(f"{member.name}: only plain files inside the folder are unpacked")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(file.read())


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def _die_with_parent() -> None:
    # A worker whose cluster node was killed would go on measuring beside its replacement.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
