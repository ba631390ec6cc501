"""What a process can reach from inside an isolation; run by ``trying``, prints one JSON line.

``python -S -m kernelindex.runner.sandbox.trial OWN FORBIDDEN OUTSIDE DEVICE``; OUTSIDE is the
process namespace of the worker, as ``readlink /proc/self/ns/pid`` prints it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import socket
import sys
from pathlib import Path

_NOT_ROUTED = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EPERM)
# An address of TEST-NET-1 (RFC 5737): nothing is there, a route to it shows a network.
_ADDRESS = ("192.0.2.1", 9)


def network_is_cut() -> bool:
    """Whether no route leads out; nothing is sent (a datagram socket only looks one up)."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.connect(_ADDRESS)
    except OSError as error:
        return error.errno in _NOT_ROUTED
    return False


def can_write(folder: Path) -> bool:
    """Whether a file can be made in a folder."""
    try:
        (folder / "trial").write_text("x")
    except OSError:
        return False
    return True


def device_works(device: str) -> bool:
    """Whether the driver opens the device from here (a context, as CUDA programs make it)."""
    kind, _, index = device.partition(":")
    if kind != "cuda":
        return True
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), int(index)):
        return False
    return bool(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle) == 0)


def main(arguments: list[str]) -> None:
    """Look and print."""
    own, forbidden, outside, device = arguments
    found = {
        "network": network_is_cut(),
        "files": not can_write(Path(forbidden)),
        "processes": str(Path("/proc/self/ns/pid").readlink()) != outside,
        "own": can_write(Path(own)),
        "device": device_works(device),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
