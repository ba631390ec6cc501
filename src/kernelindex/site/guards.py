"""What stands between the network and the pages: limits on what comes in, headers on what goes out.

One plain ASGI middleware, since each layer of them costs every request.
"""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, Final

from starlette.responses import PlainTextResponse

from kernelindex.site.api_mount import is_api
from kernelindex.site.page_rates import PageRates

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from kernelindex.api import Rates

    Headers = list[tuple[bytes, bytes]]

MOST_PATH: Final = 2_048
MOST_QUERY: Final = 8_192
MOST_BODY: Final = 2 * 1024 * 1024
NOT_KEPT: Final = {"cache-control": "no-store"}
LEAST_COMPRESSED: Final = 1_024
COMPRESSION: Final = 4
COMPRESSIBLE: Final = (
    b"text/",
    b"image/svg",
    b"application/json",
    b"application/problem+json",
    b"application/schema+json",
    b"application/atom+xml",
    b"application/xml",
)
WEIGHT: Final = re.compile(r"q=([01](?:\.[0-9]{0,3})?)")
POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURITY: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"strict-origin-when-cross-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), browsing-topics=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)


class Guards:
    """Refuses what is too large, and adds security headers and compression to answers.

    What is refused is counted like any page. The API has closer limits of its own on addresses
    and bodies, and refuses as a problem.
    """

    def __init__(self, app: ASGIApp, rates: Rates | None = None) -> None:
        self.app = app
        self._rates = None if rates is None else PageRates(rates)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, accepts_gzip=accepts_gzip(scope))
        refused = None if is_api(scope["path"]) else _refusal(scope)
        app = self.app
        if refused:
            app = PlainTextResponse(f"{refused[1]}\n", refused[0], NOT_KEPT)
        receive = _Body(receive).receive
        if self._rates is None:
            await app(scope, receive, answer.send)
        else:
            await self._rates.count(app, scope, receive, answer.send)


class _Body:
    """The request's body, which ends early where it grows beyond the limit."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._seen = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if self._seen > MOST_BODY else message


class _Answer:
    """An answer on its way out; one whole body is compressed, a stream passes as it is."""

    def __init__(self, send: Send, *, accepts_gzip: bool) -> None:
        self._send = send
        self._accepts_gzip = accepts_gzip
        self._start: MutableMapping[str, Any] | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = _with_security(message.get("headers", []))
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body") and _is_compressible(start, message):
                _vary(start)
                if self._accepts_gzip:
                    _compress(start, message)
            await self._send(start)
        await self._send(message)


def _with_security(headers: Headers) -> Headers:
    present = {name for name, _ in headers}
    return [*headers, *(pair for pair in SECURITY if pair[0] not in present)]


def _is_compressible(start: MutableMapping[str, Any], message: Message) -> bool:
    """Whether a whole body is text, long enough, and not compressed yet."""
    headers = dict(start["headers"])
    return (
        len(message.get("body", b"")) >= LEAST_COMPRESSED
        and b"content-encoding" not in headers
        and headers.get(b"content-type", b"").startswith(COMPRESSIBLE)
    )


def _vary(start: MutableMapping[str, Any]) -> None:
    """Say that the body depends on what the client takes, also to one who takes it plain."""
    if all(name != b"vary" for name, _ in start["headers"]):
        start["headers"].append((b"vary", b"Accept-Encoding"))


def _compress(start: MutableMapping[str, Any], message: Message) -> None:
    """Compress a whole body in place."""
    message["body"] = gzip.compress(message["body"], COMPRESSION, mtime=0)
    length = (b"content-length", b"%d" % len(message["body"]))
    kept = [_weak(*pair) for pair in start["headers"] if pair[0] != length[0]]
    start["headers"] = [*kept, (b"content-encoding", b"gzip"), length]


def _weak(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header of a compressed body: a strong ETag names other bytes, so it becomes weak."""
    strong = name.lower() == b"etag" and not value.startswith(b"W/")
    return name, b"W/" + value if strong else value


def accepts_gzip(scope: Scope) -> bool:
    """Whether a client takes gzip, and likes it no less than a plain body (RFC 9110, 12.5.3)."""
    stated = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding")
    weights: dict[str, float] = {}
    for part in stated.decode("latin-1").lower().split(","):
        coding, _, weight = part.partition(";")
        weights[coding.strip()] = _weight(weight.strip())
    return 0 < weights.get("gzip", weights.get("*", 0)) >= weights.get("identity", 0)


def _weight(stated: str) -> float:
    """``q=0.5`` as a number; 1 where nothing is stated, 0 where it is not a weight."""
    found = WEIGHT.fullmatch(stated or "q=1")
    return float(found[1]) if found else 0


def _refusal(scope: Scope) -> tuple[int, str] | None:
    """Status and words where a request for a page is too large to be read."""
    if len(scope.get("raw_path") or scope["path"]) > MOST_PATH:
        return 414, f"The address is longer than {MOST_PATH} characters."
    if len(scope["query_string"]) > MOST_QUERY:
        return 414, f"The query is longer than {MOST_QUERY} characters."
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > MOST_BODY:
            return 413, f"The body is larger than {MOST_BODY} bytes."
    return None
