"""Problems as RFC 9457 bodies, and every exception as one of them: the only such place."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match as RouteMatch

from kernelindex.api.codes import CODES, Code, code_of
from kernelindex.errors import (
    CanonicalError,
    CatalogError,
    KernelIndexError,
    NotFoundError,
    RequestError,
)
from kernelindex.resolve.answer import Suggestion  # noqa: TC001 (pydantic reads it)
from kernelindex.resolve.problems import Problem  # noqa: TC001 (pydantic reads it)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.applications import Starlette
    from starlette.requests import Request

MEDIA_TYPE = "application/problem+json"
TYPE_BASE = "/api#"
RETRY_AFTER_S = "5"
MAX_ITEMS = 50
UNAVAILABLE = "The catalog cannot answer now; its operator can read why in the log."
_LOG = logging.getLogger("kernelindex.api")
_OTHERWISE: tuple[tuple[type[KernelIndexError], str], ...] = (
    (CatalogError, "catalog.unavailable"),
    (NotFoundError, "manifest.not_found"),
    (RequestError, "request.parameter_invalid"),
    (CanonicalError, "canonical.syntax"),
)
_BY_STATUS = {404: "route.not_found", 405: "route.method"}


class Match(BaseModel):
    """One object that an ambiguous name means."""

    model_config = ConfigDict(extra="forbid")

    kind: str = Field(description="kind of the object")
    digest: str = Field(description="its digest; asking for this is not ambiguous")
    title: str = Field(description="its title")
    via: str = Field(description="how the name means it: alias, slug, name or digest")


class ProblemDetails(BaseModel):
    """Why there is no answer (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="address of the code's description")
    title: str = Field(description="the kind of problem, the same for each occurrence")
    status: int = Field(description="HTTP status", ge=400, le=599)
    detail: str = Field(description="what was seen, where, and what was wanted")
    code: str = Field(description="stable code, for programs")
    problems: list[Problem] | None = Field(None, description="every problem of a request")
    matches: list[Match] | None = Field(None, description="what an ambiguous name means")
    suggestions: list[Suggestion] | None = Field(None, description="questions to ask instead")
    path: str | None = Field(None, description="JSON pointer into the body")


def problem(
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """A problem response; ``more`` are further members, left out where None."""
    return _respond(code_of(code), detail, headers or {}, more)


def body_of(error: KernelIndexError) -> dict[str, Any]:
    """The body of a deliberate error, as in a batch."""
    return _body(_entry(error), error.message, _members(error.details))


def refuse(error: Exception) -> Response:
    """The response to an error: a deliberate one says why, a bug only that it is logged."""
    if isinstance(error, KernelIndexError):
        return _refuse_deliberate(error)
    if isinstance(error, OperationalError):
        _LOG.warning("the database cannot answer: %s", error.orig)
        return problem("catalog.unavailable", UNAVAILABLE, headers=_headers(503))
    _LOG.error("unexpected %s", type(error).__name__, exc_info=error)
    return problem("unexpected", "The server failed and logged how. This is a bug.")


def install(app: Starlette) -> None:
    """Answer what the router refuses with a problem; handlers answer their own errors."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(ClientDisconnect, _on_broken_off)
    app.add_exception_handler(Exception, _on_unexpected)


def _refuse_deliberate(error: KernelIndexError) -> Response:
    """What only an operator can mend is said in his log alone."""
    entry = _entry(error)
    if entry.status >= 500:
        _LOG.warning("%s: %s", error.code, error.message)
    hidden = entry.status >= 500 and error.code not in CODES
    detail = UNAVAILABLE if hidden else error.message
    return _respond(entry, detail, _headers(entry.status, error.details), _members(error.details))


async def _on_http(request: Request, error: Exception) -> Response:
    """What the router says: no such address, or not by this method."""
    assert isinstance(error, HTTPException)
    code = _BY_STATUS.get(error.status_code, "unexpected")
    details = {
        "route.not_found": "There is nothing here; /api/v1/openapi.json lists the addresses.",
        "route.method": f"This address does not take {request.method}.",
    }
    headers = {"Allow": _methods_at(request)} if code == "route.method" else None
    return problem(code, details.get(code, str(error.detail)), headers=headers)


def _methods_at(request: Request) -> str:
    """Every method that an address takes; the router itself names those of one route."""
    found: set[str] = set()
    for route in request.app.routes:
        match, _ = route.matches(request.scope)
        found |= set(route.methods or ()) if match is not RouteMatch.NONE else set()
    return ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set())))


async def _on_broken_off(_request: Request, _error: Exception) -> Response:
    """No bug of ours, so nothing is logged, and most likely nobody reads the answer."""
    return problem("canonical.syntax", "The body ended before it was whole.")


async def _on_unexpected(_request: Request, error: Exception) -> Response:
    return refuse(error)


def _entry(error: KernelIndexError) -> Code:
    """The table's entry; for codes that only other surfaces tell apart, that of their class."""
    for kind, otherwise in _OTHERWISE:
        if isinstance(error, kind):
            return code_of(error.code, otherwise=otherwise)
    return code_of(error.code)


def _headers(status: int, details: Mapping[str, Any] | None = None) -> dict[str, str]:
    """When to ask again, where that is known; how to show a key, where one is missing."""
    stated = (details or {}).get("retry_after_s")
    if stated is not None or status == 503:
        return {"Retry-After": str(stated or RETRY_AFTER_S)}
    return {"WWW-Authenticate": "Bearer"} if status == 401 else {}


def _members(details: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a problem may have, out of an error's details."""
    names = ProblemDetails.model_fields
    return {name: value for name, value in details.items() if name in names}


def _respond(
    entry: Code, detail: str, headers: Mapping[str, str], more: Mapping[str, Any]
) -> Response:
    return Response(
        orjson.dumps(_body(entry, detail, more)),
        entry.status,
        headers={"Cache-Control": "no-store", **headers},
        media_type=MEDIA_TYPE,
    )


def _body(entry: Code, detail: str, more: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: _plain(value) for name, value in more.items() if value}
    return {
        "type": f"{TYPE_BASE}{entry.code}",
        "title": entry.title,
        "status": entry.status,
        "detail": detail,
        "code": entry.code,
        **said,
    }


def _plain(value: Any) -> Any:
    """Text, or a bounded list of plain objects."""
    if isinstance(value, str):
        return value
    items: Iterable[Any] = value
    return [
        item.model_dump(mode="json") if isinstance(item, BaseModel) else item
        for item in list(items)[:MAX_ITEMS]
    ]
