"""Files by content hash: bounded, written whole or not at all, shared by processes."""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_BYTES = 64 * 2**20
MAX_FILES = 4096
FRESH_SECONDS = 3600.0
"""A file's time is moved up at most this often when it is read."""

_NAME = re.compile(r"[0-9a-f]{16,64}\.[a-z]{3,4}")
_PART = ".part"
_SWEEP_SHARE = 16


class FileCache:
    """Bytes under hexadecimal names in one folder; the least recently used go first.

    Two processes that write one name write the same bytes, so the last one wins and
    nothing is locked. What a crash leaves half written has another name and is swept.
    """

    def __init__(
        self, folder: Path, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._lock = threading.Lock()
        self._unswept_bytes = max_bytes
        self._unswept_files = 0

    def get(self, name: str) -> bytes | None:
        """The bytes under ``name``, or None."""
        path = self._path(name)
        try:
            data = path.read_bytes()
            if time.time() - path.stat().st_mtime > FRESH_SECONDS:
                os.utime(path)
        except OSError:
            return None
        return data

    def put(self, name: str, data: bytes) -> None:
        """Keep ``data`` under ``name``; a folder that cannot be written is no error."""
        path = self._path(name)
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}{_PART}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            return
        if self._is_due(len(data)):
            self.sweep()

    def sweep(self) -> int:
        """Delete the oldest files until both bounds hold with a tenth to spare; how many."""
        found = sorted(self._files())
        size, count, gone = sum(item[1] for item in found), len(found), 0
        if size <= self._max_bytes and count <= self._max_files:
            return 0
        for _, bytes_, path in found:
            if size <= self._max_bytes * 0.9 and count <= self._max_files * 0.9:
                break
            path.unlink(missing_ok=True)
            size, count, gone = size - bytes_, count - 1, gone + 1
        return gone

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no cache name: 16 to 64 hex digits and an extension")
        return self._folder / name[:2] / name

    def _is_due(self, size: int) -> bool:
        """Whether enough was written since the last sweep to count everything again."""
        with self._lock:
            self._unswept_bytes += size
            self._unswept_files += 1
            due = (
                self._unswept_bytes >= self._max_bytes / _SWEEP_SHARE
                or self._unswept_files >= self._max_files / _SWEEP_SHARE
            )
            if due:
                self._unswept_bytes = self._unswept_files = 0
            return due

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Time, size and path of every file; old unfinished ones are removed on the way."""
        for path in self._folder.glob("??/*"):
            try:
                stat = path.stat()
            except OSError:  # another process swept it
                continue
            if path.suffix != _PART:
                yield stat.st_mtime, stat.st_size, path
            elif time.time() - stat.st_mtime > FRESH_SECONDS:
                path.unlink(missing_ok=True)
