"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODE = 0o644


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file whole, so that a killed writer leaves the old one or the new one."""
    with write_after(path, data):
        pass


@contextmanager
def write_after(path: Path, data: bytes) -> Iterator[bytes]:
    """Write a file beside its place, and put it there after what must not fail has not.

    Where the body raises, or the disk is full, the old file stays and nothing else is left.
    Two at once do not meet: each has a name of its own until then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), _MODE)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield data
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        raise
