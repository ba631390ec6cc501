"""From a request to a page: build its context off the event loop, render, answer.

A page's module has a builder ``(catalog, request) -> Page`` and a list ``routes`` made with
``page_route``. Builders read the catalog and never write; what they raise becomes a page
that helps (``failures``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kernelindex.catalog.catalog import Catalog
from kernelindex.errors import NotFoundError
from kernelindex.web.context import Page
from kernelindex.web.templating import render

if TYPE_CHECKING:
    from starlette.requests import Request

Builder = Callable[[Catalog, "Request"], Page | Response]
PAGE_CACHE = "no-cache"
"""A page may be kept but is asked for again; its ETag makes that cheap."""


def page_route(path: str, build: Builder) -> Route:
    """A route whose GET and HEAD answer with the page that ``build`` makes."""

    async def endpoint(request: Request) -> Response:
        return await anyio.to_thread.run_sync(
            partial(_answer, build, request), limiter=request.app.state.threads
        )

    return Route(path, endpoint, methods=["GET"], name=getattr(build, "__name__", path))


def page_response(request: Request, page: Page, status: int = 200) -> Response:
    """A rendered page, or 304 where the reader has it already."""
    body = render(page).encode()
    etag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"etag": etag, "cache-control": PAGE_CACHE, "vary": "Accept-Encoding"}
    if status == 200 and matches(request, etag):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(body, status_code=status, headers=headers)


def matches(request: Request, etag: str) -> bool:
    """Whether a conditional request names this entity tag (weak comparison)."""
    asked = request.headers.get("if-none-match", "")
    bare = etag.removeprefix("W/")
    return any(one.strip().removeprefix("W/") in (bare, "*") for one in asked.split(","))


def redirect(path: str) -> Response:
    """To the address where a thing lives now; it may move again."""
    return RedirectResponse(path, status_code=302)


def _answer(build: Builder, request: Request) -> Response:
    """Build and render one page, its reads from one state of the catalog."""
    catalog: Catalog = request.app.state.catalog
    if any("\0" in str(value) for value in request.path_params.values()):
        raise NotFoundError("no name has a NUL character, which no database holds")
    with request.app.state.turns.turn(), catalog.snapshot():
        made = build(catalog, request)
        return made if isinstance(made, Response) else page_response(request, made)
