"""The application: routes of every part, the guards around them, one open catalog.

/            pages (kernelindex.web)
/static/     style sheet and icon, named by content
/charts/     drawings, named by content
/api/        the JSON API (kernelindex.api), where it is installed
/health      whether the catalog answers
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette

from kernelindex.api.rates import DEFAULT_RATES
from kernelindex.catalog.catalog import Catalog
from kernelindex.settings import database_url
from kernelindex.site.guards import Guards
from kernelindex.site.parts import all_routes
from kernelindex.site.slashes import redirect_slashes
from kernelindex.web.failures import HANDLERS
from kernelindex.web.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from kernelindex.api import Rates

THREADS = 16
"""Pages being built: all but a few of them wait for their turn, or for a slow read."""
WAITING_TURNS = 4
"""Pages that compute at once where each waits for a database on the network."""


def create_app(
    url: str | None = None,
    *,
    catalog: Catalog | None = None,
    cache: Path | None = None,
    rates: Rates | None = DEFAULT_RATES,
) -> Starlette:
    """The site over the catalog at ``url``, or over one that is open already.

    Without either, the catalog that ``ki`` would use. ``cache`` is the folder of drawn
    charts; it may be emptied at any time. ``rates`` hold for the API and, counted apart, for
    pages; None sets none. The catalog and the thread limiter are in
    ``app.state``; a catalog opened here is closed when the application stops.

    Raises:
        CatalogError: ``catalog.missing``, ``catalog.schema``, ``catalog.stale``.
    """
    opened = catalog or Catalog.open(database_url(url))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        if catalog is None:
            opened.close()

    app = Starlette(
        routes=all_routes(opened, cache or cache_folder(os.environ), rates),
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    redirect_slashes(app.router)
    app.state.catalog = opened
    app.state.turns = Turns(WAITING_TURNS if opened.is_postgresql else 1)
    app.state.threads = anyio.CapacityLimiter(THREADS)
    app.add_middleware(Guards, rates=rates)
    return app


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where drawn charts are kept between starts."""
    stated = environ.get("XDG_CACHE_HOME")
    root = Path(stated) if stated and Path(stated).is_absolute() else Path.home() / ".cache"
    return root / "kernelindex" / "charts"
