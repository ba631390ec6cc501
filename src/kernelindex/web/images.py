"""``/badges/…`` and ``/cards/…``: pictures that other places embed, always as of now."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from kernelindex.errors import AmbiguousError, NotFoundError
from kernelindex.resolve.rivals import find_rivals
from kernelindex.resolve.show import show_run
from kernelindex.resolve.views import view_cohort
from kernelindex.web.badges import best_badge, level_badge, unknown_badge
from kernelindex.web.cards import MAX_ROWS, Card, cohort_card, run_card
from kernelindex.web.charts.render import RenderError
from kernelindex.web.charts.routes import BRIEFLY, IMAGE_POLICY, RETRY_SECONDS

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.dossier import RunDossier
    from kernelindex.resolve.reads import Reads
    from kernelindex.web.badges import Badge
    from kernelindex.web.charts.gallery import Gallery

HOURLY = "public, max-age=3600"


def _best(catalog: Reads, run: RunDossier) -> Badge:
    return best_badge(run, find_rivals(catalog, run))


def _level(_catalog: Reads, run: RunDossier) -> Badge:
    return level_badge(run)


_BADGES = {"best": _best, "level": _level}


def image_routes(catalog: Catalog, gallery: Gallery) -> list[Route]:
    """Badges of runs, ``/badges/<run>/best.svg`` and ``level.svg``; cards of runs and cohorts."""

    def badge(request: Request) -> Response:
        with catalog.snapshot():
            return _badge(catalog, request)

    def card(request: Request) -> Response:
        with catalog.snapshot():
            made = _card_of(catalog, request.path_params["kind"], request.path_params["ident"])
        return _card(made, gallery, request)

    return [
        Route("/badges/{run}/{name}.svg", badge, name="badge", methods=["GET"]),
        Route("/cards/{kind}/{ident}.png", card, name="card", methods=["GET"]),
    ]


def _badge(catalog: Reads, request: Request) -> Response:
    make = _BADGES.get(request.path_params["name"])
    if make is None:
        return _missing("A badge is /badges/<run>/best.svg or /badges/<run>/level.svg.")
    found: Badge
    try:
        found, status = make(catalog, show_run(catalog, request.path_params["run"])), 200
    except (NotFoundError, AmbiguousError):
        found, status = unknown_badge(), 404
    headers = {"Cache-Control": HOURLY if status == 200 else BRIEFLY}
    return _image(request, found.to_svg().encode(), "image/svg+xml", headers, status)


def _card(card: Card | None, gallery: Gallery, request: Request) -> Response:
    if card is None:
        return _missing("A card is /cards/run/<run>.png or /cards/cohort/<key>.png.")
    try:
        body = gallery.card(card)
    except RenderError as error:
        headers = {"Retry-After": RETRY_SECONDS, "Cache-Control": "no-store"}
        return JSONResponse(error.to_dict(), status_code=503, headers=headers)
    return _image(request, body, "image/png", {"Cache-Control": HOURLY})


def _card_of(catalog: Reads, kind: str, ident: str) -> Card | None:
    if kind == "run":
        try:
            return run_card(show_run(catalog, ident))
        except (NotFoundError, AmbiguousError):
            return None
    row = catalog.cohort(ident) if kind == "cohort" else None
    if row is None:
        return None
    entries = catalog.entries((row.key,), first=MAX_ROWS).get(row.key, ())
    return cohort_card(view_cohort(row, entries, limit=MAX_ROWS))


def _image(
    request: Request, body: bytes, media_type: str, headers: dict[str, str], status: int = 200
) -> Response:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    safe = {"Content-Security-Policy": IMAGE_POLICY, "X-Content-Type-Options": "nosniff"}
    headers = {**headers, **safe, "ETag": etag}
    if status == 200 and request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(body, status_code=status, media_type=media_type, headers=headers)


def _missing(reason: str) -> Response:
    return PlainTextResponse(reason, status_code=404, headers={"Cache-Control": BRIEFLY})
