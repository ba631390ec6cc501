"""The few system calls of Linux that Python 3.11 does not offer; see unshare(2), mount(2)."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 4096, 16384, 1 << 18
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY, _SYS_MOUNT_SETATTR = -100, 0x8000, 1, 442
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_SUBREAPER, _PR_SET_NNP = 1, 24, 36, 38
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces of ``flags``; raises OSError."""
    _check(_libc.unshare(flags), "unshare")


def map_user(uid: int, gid: int) -> None:
    """Give this new user namespace the one user and group that it had outside."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - one write each, unbuffered
            file.write(text)


def mount_private() -> None:
    """Stop mounts from propagating out of this namespace."""
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)


def bind_handle(handle: int, path: str) -> None:
    """Show the folder open at ``handle`` as a mount of its own at ``path``."""
    _mount(f"/proc/self/fd/{handle}", path, None, _MS_BIND | _MS_REC)


def mount_empty(path: str, options: str = "") -> None:
    """Cover ``path`` by an empty file system in memory."""
    _mount("tmpfs", path, "tmpfs", _MS_NOSUID | _MS_NODEV, options)


def mount_proc() -> None:
    """Show the processes of this namespace in /proc."""
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    encoded = kind.encode() if kind else None
    result = _libc.mount(
        source.encode(), target.encode(), encoded, ctypes.c_ulong(flags), data.encode()
    )
    _check(result, f"mount {target}")


def set_read_only(path: str, *, read_only: bool, recursive: bool) -> None:
    """Change the read-only flag of a mount (mount_setattr(2), Linux 5.12)."""
    on, off = (_MOUNT_ATTR_RDONLY, 0) if read_only else (0, _MOUNT_ATTR_RDONLY)
    attributes = struct.pack("=QQQQ", on, off, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    result = _libc.syscall(
        _SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, attributes, len(attributes)
    )
    _check(result, f"mount_setattr {path}")


def raise_loopback() -> None:
    """Bring up ``lo``, the only interface of a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        request = struct.pack("16sh14x", b"lo", 0)
        (_, flags) = struct.unpack("16sh14x", fcntl.ioctl(end, _SIOCGIFFLAGS, request))
        fcntl.ioctl(end, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended (a child subreaper)."""
    _check(_libc.prctl(_PR_SET_SUBREAPER, 1, 0, 0, 0), "prctl")


def gain_no_privileges() -> None:
    """Take the effect from setuid programs, for this process and all it starts."""
    _check(_libc.prctl(_PR_SET_NNP, 1, 0, 0, 0), "prctl")


def drop_capabilities(*, keep_files: bool) -> None:
    """Give up every capability, but those to read files where ``keep_files``."""
    kept = {_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH} if keep_files else set()
    for number in range(64):
        if number not in kept:
            _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    permitted = _permitted() & sum(1 << number for number in kept)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    data = struct.pack("=IIIIII", permitted, permitted, 0, 0, 0, 0)
    _check(_libc.capset(header, data), "capset")


def _permitted() -> int:
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    data = ctypes.create_string_buffer(24)
    _check(_libc.capget(header, data), "capget")
    low: int = struct.unpack("=IIIIII", data.raw)[1]
    return low
