"""What every request to the API passes first: CORS for reads, HEAD, rates, length of the address.

What is answered here is counted like everything else. Plain ASGI, since each layer costs every
request. HEAD is answered as GET: the server leaves the body out after all layers outside have
set their headers by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernelindex.api.problems import problem
from kernelindex.api.rates import RateLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from kernelindex.api.rates import Rates

MOST_PATH: Final = 1_024
MOST_QUERY: Final = 4_096
READS: Final = frozenset({b"GET", b"HEAD"})
ASKING: Final = "/resolve/"
"""Below this a POST only reads."""
EXPOSED: Final = b"ETag, Retry-After, RateLimit, RateLimit-Policy"
CORS: Final = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", EXPOSED),
]
PREFLIGHT: Final = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Content-Type, If-None-Match"),
    (b"access-control-max-age", b"86400"),
    (b"cache-control", b"no-store"),
]


class Guards:
    """Answers preflights, makes HEAD a GET, refuses long addresses, lets any origin read."""

    def __init__(self, app: ASGIApp, rates: Rates | None = None) -> None:
        self.app = app
        self._limits = None if rates is None else RateLimits(rates)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        app = self.app
        if _is_preflight(scope):
            app = _answer_preflight
        else:
            send = _shared(send) if _only_reads(scope) else send
            if scope["method"] == "HEAD":
                scope = {**scope, "method": "GET"}
            if len(scope["query_string"]) > MOST_QUERY or len(scope["path"]) > MOST_PATH:
                app = _refuse_length
        if self._limits is None:
            await app(scope, receive, send)
        else:
            await self._limits.count(app, scope, receive, send)


def _shared(send: Send) -> Send:
    """Send an answer that any origin may read."""

    async def send_shared(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *CORS]
        await send(message)

    return send_shared


def _only_reads(scope: Scope) -> bool:
    return scope["method"] != "POST" or ASKING in scope["path"]


async def _refuse_length(scope: Scope, receive: Receive, send: Send) -> None:
    refused = problem(
        "request.query_too_long",
        f"The path has at most {MOST_PATH} characters and the query {MOST_QUERY}.",
    )
    await refused(scope, receive, send)


def _is_preflight(scope: Scope) -> bool:
    return scope["method"] == "OPTIONS" and bool(_wanted(scope))


def _wanted(scope: Scope) -> bytes | None:
    """The method that a browser asks leave for."""
    return _header(scope, b"access-control-request-method")


async def _answer_preflight(scope: Scope, _receive: Receive, send: Send) -> None:
    """Leave to read; none, by silence, for anything else."""
    wanted = _wanted(scope)
    asks = wanted == b"POST" and ASKING in scope["path"]
    headers = list(PREFLIGHT) if wanted in READS or asks else []
    if headers:
        methods = b"GET, HEAD, POST" if ASKING in scope["path"] else b"GET, HEAD"
        headers.append((b"access-control-allow-methods", methods))
    start: dict[str, Any] = {"type": "http.response.start", "status": 204, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": b""})


def _header(scope: Scope, name: bytes) -> bytes | None:
    return next((value for key, value in scope["headers"] if key == name), None)
