"""The routes of the feeds, to be mounted at the root of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from kernelindex.api.feeds import atom, sitemap, texts
from kernelindex.api.parameters import CURSOR, Parameter, limit_parameter, read_query
from kernelindex.api.problems import problem, refuse
from kernelindex.api.replies import reply_bytes
from kernelindex.resolve.lists import list_records

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

MAX_AGE = "max-age=300"
TEXT = "text/plain; charset=utf-8"
XML = "application/xml"
PARAMETERS = (
    Parameter(name="operation", text="operation: slug, alias or digest"),
    Parameter(name="gpu", text="GPU product"),
    CURSOR,
    limit_parameter(),
)


def routes(catalog: Catalog, *, base: str | None = None) -> list[Route]:
    """``/feeds/records.atom``, ``/sitemap.xml``, ``/sitemaps/…``, ``/robots.txt``, ``/llms.txt``.

    ``base`` is the site's public address, without a slash at its end. Where it is not known,
    addresses begin with the host that the client states, and no shared cache may keep them.
    """
    cache = f"{'public' if base else 'private'}, {MAX_AGE}"

    def records(request: Request) -> Response:
        found = list_records(catalog, **read_query(request, PARAMETERS))
        query = f"?{request.url.query}" if request.url.query else ""
        body = atom.build_feed(found, base=_base(request), own=f"{request.url.path}{query}")
        return _reply(request, body, atom.MEDIA_TYPE)

    def index(request: Request) -> Response:
        return _reply(request, sitemap.build_index(catalog, _base(request)), XML)

    def part(request: Request) -> Response:
        body = sitemap.build_part(catalog, request.path_params["name"], _base(request))
        if body is None:
            return problem("route.not_found", "/sitemap.xml names every sitemap.")
        return _reply(request, body, XML)

    def robots(request: Request) -> Response:
        return _reply(request, texts.robots(_base(request)).encode(), TEXT)

    def llms(request: Request) -> Response:
        return _reply(request, texts.llms(_base(request)).encode(), TEXT)

    def _reply(request: Request, body: bytes, media_type: str) -> Response:
        return reply_bytes(request, body, etag=None, media_type=media_type, cache=cache)

    def _base(request: Request) -> str:
        return base or str(request.base_url).rstrip("/")

    return [
        Route("/feeds/records.atom", _answering(catalog, records)),
        Route("/sitemap.xml", _answering(catalog, index)),
        Route("/sitemaps/{name}.xml", _answering(catalog, part)),
        Route("/robots.txt", _answering(catalog, robots)),
        Route("/llms.txt", _answering(catalog, llms)),
    ]


def _answering(
    catalog: Catalog, handler: Callable[[Request], Response]
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            return await run_in_threadpool(_in_one_state, catalog, handler, request)
        except Exception as error:  # every one of them is a documented problem
            return refuse(error)

    return answer


def _in_one_state(
    catalog: Catalog, handler: Callable[[Request], Response], request: Request
) -> Response:
    with catalog.snapshot():
        return handler(request)
