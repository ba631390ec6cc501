"""The launcher: encloses itself, then becomes the command it was given.

``python -S -m kernelindex.runner.sandbox.enter SPEC COMMAND...``; SPEC is the JSON that
``build_command`` writes. Standard library only, and no threads: it forks.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from kernelindex.runner.sandbox import kernel
from kernelindex.runner.sandbox.limits import Limits, apply_limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHARED_MEMORY = "/dev/shm"


def main(arguments: Sequence[str]) -> None:
    """Enclose this process as the specification says and run the command in it."""
    spec, command = json.loads(arguments[0]), list(arguments[1:])
    apply_limits(Limits(**spec["limits"]))
    kernel.die_with_parent()
    isolation = spec["isolation"]
    if isolation["kind"] == "bubblewrap":
        command = bubblewrap_command(spec, command)
    elif isolation["kind"] == "namespaces":
        _enter_namespaces(spec)
    if isolation["kind"] != "bubblewrap":
        _give_up_privileges(spec)
    os.execvp(command[0], command)


def bubblewrap_command(spec: Mapping[str, Any], command: Sequence[str]) -> list[str]:
    """The same enclosure in bubblewrap's words."""
    words = {"hide": "--tmpfs", "read": "--ro-bind", "write": "--bind"}
    mounts: list[str] = []
    for what, path in spec["mounts"]:
        mounts += (words[what], path) if what == "hide" else (words[what], path, path)
    return [
        *(spec["isolation"]["program"], "--die-with-parent", "--cap-drop", "ALL"),
        *("--unshare-net", "--unshare-pid", "--unshare-ipc"),
        *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", _SHARED_MEMORY, *mounts),
        *("--chdir", os.getcwd(), "--", *command),  # noqa: PTH109 - a text for the command
    ]


def _enter_namespaces(spec: Mapping[str, Any]) -> None:
    isolation = spec["isolation"]
    features, uid, gid = isolation["features"], os.getuid(), os.getgid()
    kernel.unshare(_flags(features, user=isolation["user"]))
    if isolation["user"]:
        kernel.map_user(uid, gid)
    if "network" in features:
        kernel.raise_loopback()
    if "processes" in features:
        _become_first_process()
        kernel.mount_private()
        kernel.mount_proc()
    if "files" in features:
        _close_files(spec["mounts"])


def _flags(features: Sequence[str], *, user: bool) -> int:
    flags = kernel.CLONE_NEWIPC | (kernel.CLONE_NEWUSER if user else 0)
    flags |= kernel.CLONE_NEWNET if "network" in features else 0
    flags |= kernel.CLONE_NEWNS if {"files", "processes"} & set(features) else 0
    return flags | (kernel.CLONE_NEWPID if "processes" in features else 0)


def _close_files(mounts: Sequence[Sequence[str]]) -> None:
    """Everything read-only but what may be written; what is hidden and shared memory is covered."""
    kernel.mount_private()
    where = os.getcwd()  # noqa: PTH109 - entered again below, through the new mounts
    handles = {
        path: os.open(path, os.O_PATH | os.O_DIRECTORY) for what, path in mounts if what != "hide"
    }
    for what, path in mounts:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103 - below a hidden folder it is gone
        if what == "hide":
            kernel.mount_empty(path)
        else:
            kernel.bind_handle(handles[path], path)
            os.close(handles.pop(path))
    kernel.set_read_only("/", read_only=True, recursive=True)
    for what, path in mounts:
        if what == "write":
            kernel.set_read_only(path, read_only=False, recursive=False)
    kernel.mount_empty(_SHARED_MEMORY)
    os.chdir(where)


def _become_first_process() -> None:
    """Continue in a child, the first of its process namespace; the parent waits and copies
    its end. When the first process ends, the kernel kills all others of the namespace.
    """
    child = os.fork()
    if child == 0:
        kernel.die_with_parent()
        return
    os.closerange(3, 65536)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL) if os.WTERMSIG(status) != 9 else None
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _give_up_privileges(spec: Mapping[str, Any]) -> None:
    if not spec["drop"]:
        return
    kernel.gain_no_privileges()
    if os.getuid() == 0:
        kernel.drop_capabilities(keep_files=not spec["isolation"]["user"])


if __name__ == "__main__":
    main(sys.argv[1:])
