"""``/charts/<kind>/<hash>.svg|png|csv|json`` as Starlette routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from kernelindex.web.charts.gallery import Address, Missing, Moved
from kernelindex.web.charts.render import RenderError

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.web.charts.gallery import Gallery

FOREVER = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=60"
IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""An SVG opened by itself may not load or run anything."""
RETRY_SECONDS = "5"


def chart_routes(gallery: Gallery) -> list[Route]:
    """The routes of chart files; the handler is plain, so it runs in a thread of its own."""

    def serve(request: Request) -> Response:
        return _serve(gallery, request)

    return [Route("/charts/{kind}/{name}", serve, name="chart", methods=["GET"])]


def _serve(gallery: Gallery, request: Request) -> Response:
    address = Address.parse(request.path_params["kind"], request.path_params["name"])
    if address is None:
        return _missing("A chart is /charts/<kind>/<32 hex digits>.svg, .png, .csv or .json.")
    try:
        found = gallery.fetch(address, request.query_params.get("of", ""))
    except RenderError as error:
        headers = {"Retry-After": RETRY_SECONDS, "Cache-Control": "no-store"}
        return JSONResponse(error.to_dict(), status_code=503, headers=headers)
    if isinstance(found, Moved):
        return RedirectResponse(found.path, status_code=307, headers={"Cache-Control": BRIEFLY})
    if isinstance(found, Missing):
        return _missing(found.reason)
    headers = {
        "Cache-Control": FOREVER,
        "ETag": found.etag,
        "Content-Security-Policy": IMAGE_POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.media_type, headers=headers)


def _missing(reason: str) -> Response:
    return PlainTextResponse(reason, status_code=404, headers={"Cache-Control": BRIEFLY})
