"""Everything that is mounted, in one list.

The API is an ASGI application of its own below ``/api/v1``; the pages of the community are
pages like others (``web.pages``), and what programs read at the root (feed, robots, sitemap,
llms.txt) comes with the API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from kernelindex.api import create_api, feeds
from kernelindex.settings import public_address
from kernelindex.site.api_mount import API, ApiMount
from kernelindex.site.guards import accepts_gzip
from kernelindex.web.assets import load_assets
from kernelindex.web.charts.cache import FileCache
from kernelindex.web.charts.gallery import Gallery
from kernelindex.web.charts.render import Renderer
from kernelindex.web.charts.routes import chart_routes
from kernelindex.web.charts.subjects import chart_of
from kernelindex.web.images import image_routes
from kernelindex.web.pages import page_routes

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from kernelindex.api import Rates
    from kernelindex.catalog.catalog import Catalog
    from kernelindex.web.charts.chart import Frame, Kind
    from kernelindex.web.charts.subjects import Drawn

FOREVER = "public, max-age=31536000, immutable"


def all_routes(catalog: Catalog, cache: Path, rates: Rates | None) -> list[BaseRoute]:
    """The routes of the whole site, the most asked first.

    ``cache`` keeps drawn charts; ``rates`` are those of the API, None sets none.
    """
    return [
        ApiMount(API, create_api(catalog, rates=rates)),
        *page_routes(),
        Route("/static/{name}", static, name="static"),
        Route("/health", health, name="health"),
        *_drawings(catalog, cache),
        *feeds.routes(catalog, base=public_address() or None),
    ]


async def static(request: Request) -> Response:
    """A static file by its content's name; kept for ever."""
    asset = load_assets().get(request.path_params["name"])
    if asset is None:
        return Response("no such file\n", status_code=404, media_type="text/plain")
    etag = f'"{asset.name}"'
    headers = {"cache-control": FOREVER, "etag": etag, "vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    if accepts_gzip(request.scope):
        headers["content-encoding"] = "gzip"
        return Response(asset.compressed, headers=headers, media_type=asset.media_type)
    return Response(asset.body, headers=headers, media_type=asset.media_type)


def health(request: Request) -> Response:
    """Whether the catalog answers, and how much is in it."""
    catalog: Catalog = request.app.state.catalog
    with catalog.snapshot():
        runs = catalog.run_count()
    return JSONResponse({"status": "ok", "runs": runs}, headers={"cache-control": "no-store"})


def _drawings(catalog: Catalog, cache: Path) -> list[BaseRoute]:
    """Charts, badges and cards; the drawing process starts with the first one asked for."""

    def build(kind: Kind, subject: str, frame: Frame) -> Drawn | None:
        with catalog.snapshot():
            return chart_of(catalog, kind, subject, frame)

    gallery = Gallery(FileCache(cache), Renderer(), build)
    return [*chart_routes(gallery), *image_routes(catalog, gallery)]
