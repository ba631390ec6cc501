"""How often one address may ask for pages and drawings; the API counts for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import PlainTextResponse

from kernelindex.api.rates import RateLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from kernelindex.api import Rates

UNCOUNTED: Final = ("/api/", "/static/", "/health")
"""Counted elsewhere, kept by browsers for ever, and asked by machines of the operator."""


class PageRates(RateLimits):
    """Refuses with 429, in words, an address that asks for pages more often than it may."""

    def __init__(self, app: ASGIApp, rates: Rates) -> None:
        super().__init__(app, rates, refuse=_told_to_wait)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        counted = scope["type"] == "http" and not scope["path"].startswith(UNCOUNTED)
        await (super().__call__ if counted else self.app)(scope, receive, send)


def _told_to_wait(words: str, wait_s: int) -> ASGIApp:
    headers = {"retry-after": str(wait_s), "cache-control": "no-store"}
    return PlainTextResponse(f"{words}\n", status_code=429, headers=headers)
