"""What a process prints: its beginning and its end are kept, the rest is counted."""

from __future__ import annotations

import os
import threading
from collections import deque

_HEAD_BYTES = 512 << 10
_TAIL_BYTES = 512 << 10


class Output:
    """Reads a pipe to its end in a thread of its own, in bounded memory."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.discarded = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self, last: int = 4000) -> str:
        """The end of what was printed, as text."""
        whole = bytes(self._head) + b"".join(self._tail)
        return whole[-last:].decode(errors="replace").strip()

    def finish(self, seconds: float) -> None:
        """Wait for the pipe's end, for a while: a process left behind may hold it open."""
        self._thread.join(seconds)

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._descriptor, 1 << 16)
            except OSError:
                break
            if not part:
                break
            self._keep(part)
        os.close(self._descriptor)

    def _keep(self, part: bytes) -> None:
        room = _HEAD_BYTES - len(self._head)
        self._head += part[:room] if room > 0 else b""
        rest = part[max(room, 0) :]
        if not rest:
            return
        self._tail.append(rest)
        self._tail_bytes += len(rest)
        while self._tail_bytes - len(self._tail[0]) >= _TAIL_BYTES:
            dropped = len(self._tail.popleft())
            self._tail_bytes -= dropped
            self.discarded += dropped
