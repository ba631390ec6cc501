"""An address with a slash at its end leads to the one without, on whatever host it was asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse
from starlette.routing import Match

if TYPE_CHECKING:
    from starlette.routing import Router
    from starlette.types import Receive, Scope, Send


class Slashes:
    """What a router does where no route is found, instead of its own redirect.

    That one names the host that the client stated, which a cache may hand to others.
    """

    def __init__(self, router: Router) -> None:
        self._router = router
        self._otherwise = router.default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").rstrip("/")
        if path == scope.get("path") or not self._is_route({**scope, "path": path}):
            await self._otherwise(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        address = f"{quote(path)}?{query}" if query else quote(path)
        await RedirectResponse(address)(scope, receive, send)

    def _is_route(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is not Match.NONE for route in self._router.routes)


def redirect_slashes(router: Router) -> None:
    """Have a router answer addresses with a slash at their end by relative redirects."""
    router.default = Slashes(router)
    router.redirect_slashes = False
