"""Run the worker on a plan and bring its folder back as bytes.

Standard library only: a Ray cluster gets this module by value, and its machines need
nothing of KernelIndex installed.
"""

from __future__ import annotations

import ctypes
import gzip
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
_REFUSED = 2  # the worker's EXIT_REFUSED, which no cluster has to import
_MOST_OF_NAME = 255
LEFT_BEHIND = frozenset(("seed.secret",))


class WorkError(RuntimeError):
    """Raised when the worker left no batch folder, with the end of its output, or an archive
    is refused for what it holds.
    """


def perform(source: bytes, plan: str, files: Mapping[str, bytes]) -> tuple[bytes, str]:
    """Run one plan with a source tree shipped along: (the packed batch folder, host name)."""
    with tempfile.TemporaryDirectory(prefix="ki-task-") as name:
        base = Path(name)
        write_tree(read_tree(source), base / "src")
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
    """The worker as a process of its own, killed when this one dies; raises WorkError.

    One that refuses leaves the outcome of an earlier start, which is not its own.
    """
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
    if done.returncode == _REFUSED or not (out / "outcome.json").exists():
        tail = done.stdout[-_TAIL:].decode(errors="replace")
        raise WorkError(f"the worker ended with {done.returncode} and no outcome: {tail}")


def pack_tree(folder: Path, without: frozenset[str] = frozenset()) -> bytes:
    """A folder's files as a compressed archive; equal trees give equal bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in without:
                archive.add(path, str(path.relative_to(folder)), filter=_plain)
    return gzip.compress(buffer.getvalue(), 1, mtime=0)


def read_tree(data: bytes) -> dict[PurePosixPath, bytes]:
    """The files in ``pack_tree``'s bytes; raises WorkError for whatever else they hold.

    Links, devices, outside paths and too much are refused; by hand: Python has filters for
    archives only from 3.11.4 on.
    """
    try:
        # To its end: the checksum lies behind what a reader of archives reads.
        plain = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MAX_RESULT_BYTES + 1)
        _need_room(len(plain))
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
            members = archive.getmembers()
            _need_room(sum(one.size for one in members))
            files = [_read_file(archive, one) for one in members]
    except (WorkError, MemoryError):
        raise
    except Exception as error:  # read from memory, so an OSError too is about the archive
        raise WorkError(f"no archive of files: {type(error).__name__}: {error}") from error
    taken = dict(files)
    folders = {parent for path in taken for parent in path.parents}
    if len(taken) < len(files) or folders & set(taken):
        raise WorkError("the archive holds a file's path twice, or a file where a folder is")
    return taken


def _need_room(size_bytes: int) -> None:
    if size_bytes > MAX_RESULT_BYTES:
        raise WorkError(f"the archive unpacks to more than {MAX_RESULT_BYTES} bytes")


def _read_file(archive: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[PurePosixPath, bytes]:
    path = PurePosixPath(member.name)
    file = archive.extractfile(member) if member.isreg() else None
    if file is None or path.is_absolute() or ".." in path.parts or not path.parts:
        raise WorkError(f"{member.name}: only plain files inside the folder are unpacked")
    if len(os.fsencode(path)) > _MOST_OF_NAME or "\0" in member.name:
        raise WorkError(f"{member.name[:80]!r}: wanted a name of at most {_MOST_OF_NAME} bytes")
    return path, file.read()


def write_tree(files: Mapping[PurePosixPath, bytes], folder: Path) -> None:
    """Write what ``read_tree`` read; an OSError is this machine's, never the archive's."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, body in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def _die_with_parent() -> None:
    # A worker whose cluster node was killed would go on measuring beside its replacement.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
