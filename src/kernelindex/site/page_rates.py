"""How often one address may ask for pages and drawings; the API counts for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import PlainTextResponse

from kernelindex.api.rates import RateLimits
from kernelindex.site.api_mount import is_api
from kernelindex.web.assets import load_assets

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from kernelindex.api import Rates

UNCOUNTED: Final = frozenset({"/health", *(f"/static/{name}" for name in load_assets())})
"""Asked by machines of the operator, and kept by browsers for ever."""


class PageRates(RateLimits):
    """Refuses with 429, in words, an address that asks for pages more often than it may."""

    def __init__(self, rates: Rates) -> None:
        super().__init__(rates, refuse=_told_to_wait)

    async def count(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Have ``app`` answer where the address may still ask, or need not be counted."""
        await (super().count if _is_counted(scope) else _pass)(app, scope, receive, send)


def _is_counted(scope: Scope) -> bool:
    return scope["path"] not in UNCOUNTED and not is_api(scope["path"])


async def _pass(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


def _told_to_wait(words: str, wait_s: int) -> ASGIApp:
    headers = {"retry-after": str(wait_s), "cache-control": "no-store"}
    return PlainTextResponse(f"{words}\n", status_code=429, headers=headers)
