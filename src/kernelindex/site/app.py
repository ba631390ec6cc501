"""The application: routes of every part, the guards around them, one open catalog.

/            pages (kernelindex.web)
/static/     style sheet and icon, named by content
/charts/     drawings, named by content
/api/        the JSON API (kernelindex.api), where it is installed
/health      whether the catalog answers
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette

from kernelindex.catalog.catalog import Catalog
from kernelindex.settings import database_url
from kernelindex.site.guards import Guards
from kernelindex.site.parts import all_routes
from kernelindex.web.failures import HANDLERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

THREADS = 4
"""Pages built at once: more only makes them wait for each other, as they share one core."""


def create_app(url: str | None = None, *, catalog: Catalog | None = None) -> Starlette:
    """The site over the catalog at ``url``, or over one that is open already.

    Without either, the catalog that ``ki`` would use. Catalog, thread limiter and settings
    are in ``app.state``; a catalog opened here is closed when the application stops.

    Raises:
        CatalogError: ``catalog.missing``, ``catalog.schema``, ``catalog.stale``.
    """
    opened = catalog or Catalog.open(database_url(url))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.threads = anyio.CapacityLimiter(THREADS)
        yield
        if catalog is None:
            opened.close()

    app = Starlette(routes=all_routes(opened), exception_handlers=HANDLERS, lifespan=lifespan)
    app.state.catalog = opened
    app.add_middleware(Guards)
    return app
