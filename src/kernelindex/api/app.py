"""The API as one application, to be mounted at ``/api/v1``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from fastapi import FastAPI

from kernelindex import __version__
from kernelindex.api import problems
from kernelindex.api.endpoint import mount
from kernelindex.api.guards import Guards
from kernelindex.api.openapi import build_document
from kernelindex.api.rates import DEFAULT_RATES
from kernelindex.api.replies import reply_bytes
from kernelindex.api.routes import ENDPOINTS

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.api.rates import Rates
    from kernelindex.catalog import Catalog

BASE = "/api/v1"
SUMMARY = "Find the fastest GPU kernel you can trust for an exact workload"
DESCRIPTION = """\
The answers are those of the command line's `--json` and of the pages. Nothing is ranked here.

Errors are RFC 9457 problems with a stable `code`; each address lists its codes. GET answers
carry a strong ETag. What is named by its digest may be kept for ever. Every GET takes HEAD.
Lists page by `cursor`, which is good only with the filters it came with.
"""


def create_api(
    catalog: Catalog, *, exports: Path | None = None, rates: Rates | None = DEFAULT_RATES
) -> FastAPI:
    """The API over an open catalog.

    ``exports`` is the folder of exported files to hand out; by default ``exports`` beside a
    SQLite database. ``rates`` None sets no limit.
    """
    app = FastAPI(
        title="KernelIndex",
        version=__version__,
        summary=SUMMARY,
        description=DESCRIPTION,
        servers=[{"url": BASE}],
        root_path_in_servers=False,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.exports = exports or _beside(catalog)
    for endpoint in ENDPOINTS:
        mount(app, endpoint, catalog)
    _add_document(app)
    problems.install(app)
    app.add_middleware(Guards, rates=rates)
    return app


def _beside(catalog: Catalog) -> Path | None:
    if catalog.is_postgresql:
        return None
    from kernelindex.catalog.engines import sqlite_path

    return sqlite_path(catalog.url).parent / "exports"


def _add_document(app: FastAPI) -> None:
    """``/openapi.json``, built when first asked for, also at the root of the API."""
    built: list[bytes] = []

    def document() -> dict[str, object]:
        return build_document(app, ENDPOINTS)

    async def openapi(request: Request) -> Response:
        if not built:
            built.append(orjson.dumps(app.openapi()))
        return reply_bytes(request, built[0], etag=None)

    app.openapi = document  # type: ignore[method-assign]
    for path in ("/openapi.json", "/"):
        app.add_route(path, openapi, methods=["GET"], include_in_schema=False)
