"""The one place where an error becomes a page and a status."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse

from kernelindex.community import REFUSALS
from kernelindex.errors import (
    AmbiguousError,
    CatalogError,
    CommunityError,
    KernelIndexError,
    NotFoundError,
    RequestError,
)
from kernelindex.registry.hardware import find_gpu
from kernelindex.registry.operations import find_operation
from kernelindex.text import show_hidden
from kernelindex.web import paths
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_response
from kernelindex.web.listing import address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

log = logging.getLogger(__name__)

STATUSES: tuple[tuple[type[KernelIndexError], int], ...] = (
    (NotFoundError, 404),
    (AmbiguousError, 300),
    (RequestError, 400),
)
TITLES = {
    300: "Several things have this name",
    400: "This cannot be read",
    404: "Nothing is here",
    405: "This address takes no such request",
    413: "That is too large",
    414: "This address is too long",
    429: "Too many requests",
    500: "Something broke here",
    503: "No answer just now",
}
NOT_NOW = frozenset({"catalog.read_only", "catalog.read_time_limit", "catalog.stale"})
"""What may be answered when asked again, some once an operator has mended something."""
RETRY_AFTER = {"retry-after": "5"}
MOST_MATCHES = 20
MOST_ECHO = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One thing that may have been meant."""

    title: str = field(metadata=told("what it is called"))
    kind: str = field(metadata=told("what kind of thing it is"))
    href: str = field(metadata=told("where it is; empty where it has no page"))
    digest: str = field(metadata=told("its digest, where it has one"), default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePage(Page):
    """A request that was not answered, why, and what to do instead."""

    template: ClassVar[str] = "failure.html"

    status: int = field(metadata=told("HTTP status"))
    code: str = field(metadata=told("stable code of the reason"))
    reason: str = field(metadata=told("what was seen and what was wanted, in a sentence"))
    asked: str = field(metadata=told("the address that was asked for, cut to a readable length"))
    word: str = field(metadata=told("words of the address to ask about instead"), default="")
    bare: str = field(
        metadata=told("the address without parameters, where those were refused"), default=""
    )
    choices: tuple[Choice, ...] = field(
        metadata=told("things that may have been meant"), default=()
    )


def status_of(error: KernelIndexError) -> int:
    """The HTTP status of a deliberate error."""
    if isinstance(error, CatalogError) and error.code in NOT_NOW:
        return 503
    if isinstance(error, CommunityError):
        return REFUSALS[error.code].status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def show_error(request: Request, error: Exception) -> Response:
    """The page of a deliberate error."""
    assert isinstance(error, KernelIndexError)
    status = status_of(error)
    if status == 500:
        log.error("%s: %s", error.code, error.message)
    choices = _choices(error.details) or _gpus(request, error.details)
    headers = RETRY_AFTER if status == 503 else None
    return failure_response(
        request, status, error.code, error.message, choices=choices, headers=headers
    )


def show_http_error(request: Request, error: Exception) -> Response:
    """The page of an address that no route has, or of a method that it does not take."""
    assert isinstance(error, HTTPException)
    reason = {
        404: "No page has this address.",
        405: f"{request.method} is not possible here.",
    }.get(error.status_code, str(error.detail))
    return failure_response(
        request, error.status_code, f"http.{error.status_code}", reason, headers=error.headers
    )


def answer_broken_off(_request: Request, _error: Exception) -> Response:
    """To a body that ended early: no bug of ours, and no page, since hardly anybody reads it."""
    return PlainTextResponse("The request ended before it was whole.\n", status_code=400)


def show_unexpected(request: Request, _error: Exception) -> Response:
    """The page of a bug; what happened is in the log, not on the page."""
    return failure_response(
        request, 500, "unexpected", "The server failed; the failure is in its log."
    )


def failure_response(
    request: Request,
    status: int,
    code: str,
    reason: str,
    *,
    choices: tuple[Choice, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A page that says what went wrong and offers a way on."""
    page = FailurePage(
        title=TITLES.get(status, "This did not work"),
        status=status,
        code=code,
        reason=reason,
        asked=show_hidden(request.url.path)[:MOST_ECHO],
        word=_word(request.url.path),
        bare=_bare(request) if status == 400 else "",
        choices=choices,
        indexed=False,
    )
    response = page_response(request, page, status)
    response.headers["cache-control"] = "no-store"
    response.headers.update(headers or {})
    return response


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Response]] = {
    KernelIndexError: show_error,
    HTTPException: show_http_error,
    ClientDisconnect: answer_broken_off,
    Exception: show_unexpected,
}


def _choices(details: Mapping[str, object]) -> tuple[Choice, ...]:
    matches = details.get("matches", ())
    found = matches if isinstance(matches, list | tuple) else ()
    return tuple(_choice(item) for item in found[:MOST_MATCHES] if isinstance(item, dict))


def _gpus(request: Request, details: Mapping[str, Any]) -> tuple[Choice, ...]:
    """The same page for each GPU that a name may mean, from its first row on."""
    path = quote(request.url.path)
    asked = {name: value for name, value in request.query_params.items() if name != "cursor"}
    return tuple(
        Choice(title=one["label"], kind="GPU", href=address(path, {**asked, "gpu": one["id"]}))
        for one in details.get("gpus", ())
    )


def _choice(match: Mapping[str, str]) -> Choice:
    digest, kind = match.get("digest", ""), match.get("kind", "")
    return Choice(
        title=match.get("title") or digest,
        kind=kind,
        href=match.get("href") or _href(kind, digest),
        digest=digest,
    )


def _href(kind: str, digest: str) -> str:
    places = {
        "BenchmarkRun": paths.run_permalink,
        "ServingRun": paths.run_permalink,
        "OperationSpec": paths.operation,
        "ImplementationRevision": paths.implementation,
        "SoftwareProject": paths.project,
    }
    place = places.get(kind)
    return place(digest) if place and digest else ""


def _bare(request: Request) -> str:
    """The address without its parameters, where it has any."""
    path = quote(request.url.path)
    return path if request.url.query and not path.startswith("//") else ""


def _word(path: str) -> str:
    """The last part of an address as words, where a question can be about it.

    That is what names an operation or a GPU, or nearly does; of other words an answer would only
    say that it cannot read them.
    """
    last = path.rstrip("/").rpartition("/")[2]
    if not last.isascii() or not 2 < len(last) < 80:
        return ""
    words = last.replace("-", " ").replace("_", " ")
    found = find_operation(words)
    return words if found.operation or found.suggestions or find_gpu(words) else ""
