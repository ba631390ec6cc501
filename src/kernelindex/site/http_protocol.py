"""uvicorn's httptools protocol with bounds on the head of a request and on slow clients.

httptools itself has none: a header of 100 MB was taken, and memory grew by 119 MB. uvicorn
closes connections that say nothing after an answer, but waits for ever for a first request
or for the rest of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

MOST_HEAD_BYTES: Final = 64 * 1024
PIECE_BYTES: Final = 1024
"""How exactly heads are bounded: the system hands over up to 256 KiB, with a whole head in it."""
MOST_HEAD_S = 10.0
MOST_BODY_S = 30.0
"""2 MiB, the longest body that is read, at 70 kB a second."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """Refuses a head longer than ``MOST_HEAD_BYTES``; hangs up on whoever takes too long.

    A head must be complete ``MOST_HEAD_S`` after the connection was made or the request
    begun, a body ``MOST_BODY_S`` after its head.
    """

    _in_head = True
    _head_bytes = 0
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request."""
        super().connection_made(transport)
        self._wait(MOST_HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._wait(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take the data in pieces, and count those that end before the headers do."""
        for start in range(0, len(data), PIECE_BYTES):
            if self.transport.is_closing():
                return
            piece = data[start : start + PIECE_BYTES]
            super().data_received(piece)
            self._head_bytes += len(piece)
            if self._in_head and self._head_bytes >= MOST_HEAD_BYTES:
                self._refuse_head()

    def _refuse_head(self) -> None:
        if not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """A new request begins, perhaps on a connection that had others."""
        self._in_head, self._head_bytes = True, 0
        self._wait(MOST_HEAD_S)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """What follows is the body, which has limits of its own."""
        self._in_head = False
        self._wait(MOST_BODY_S)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole; now the client waits for us."""
        self._wait(None)
        super().on_message_complete()

    def _wait(self, seconds: float | None) -> None:
        """Hang up after so long, unless something else is waited for before; None: never."""
        if self._patience is not None:
            self._patience.cancel()
        self._patience = None if seconds is None else self.loop.call_later(seconds, self._hang_up)

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
