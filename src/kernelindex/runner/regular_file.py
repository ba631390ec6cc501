"""Reading files that somebody else wrote: regular ones only, and no more than was expected.

A candidate, or a machine that a batch folder came from, may leave a link in a file's place:
followed, it would have a file of this machine read, judged or signed.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256 << 20


def open_regular(path: Path) -> BinaryIO:
    """A regular file opened for reading; raises OSError for a link, a pipe or a device too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_regular(path) from error
        raise
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise _not_regular(path)
    return file


def read_regular(path: Path, limit_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file; raises OSError, also for one of more than ``limit_bytes``."""
    with open_regular(path) as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise OSError(errno.EFBIG, f"more than {limit_bytes} bytes", str(path))
    return data


def _not_regular(path: Path) -> OSError:
    return OSError(errno.EINVAL, "not a regular file", str(path))
