"""Who may see the operators' pages: a session behind a cookie, checked on every request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.routing import Route

from kernelindex.community import Session, find_session, refusal
from kernelindex.community.sessions import LASTS_S
from kernelindex.web.context import Page, told
from kernelindex.web.forms import (
    TOKEN,
    Form,
    clock_of,
    is_secure,
    read_form,
    secret_of,
    see_other,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog

HOME = "/admin"
Shown = Callable[["Catalog", "Request", Session], "Response"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPage(Page):
    """What every page of an operator who is logged in shows."""

    actor: str = field(metadata=told("who is logged in, as the audit log says it"))
    token: str = field(metadata=told("proof that a form was made for this session"))


def frame(catalog: Catalog, session: Session, title: str) -> dict[str, Any]:
    """The fields that every ``OperatorPage`` has."""
    return {
        "title": title,
        "indexed": False,
        "actor": session.actor,
        "token": session.form_token(secret_of(catalog)),
    }


def current_session(catalog: Catalog, request: Request) -> Session | None:
    """The session that the browser's cookie opens, if any."""
    cookie = request.cookies.get(_cookie_name(request))
    return find_session(catalog, cookie, clock=clock_of(request))


def require_sent(catalog: Catalog, session: Session, form: Form) -> None:
    """Refuse a form that was not made for the session.

    Raises:
        CommunityError: ``form.forged``.
    """
    if not session.sent(secret_of(catalog), form.get(TOKEN, "")):
        raise refusal("form.forged", "this form was not made for this session; send it again")


def remember(request: Request, response: Response, session: Session) -> Response:
    """Give the browser the session's cookie, for these pages alone."""
    response.set_cookie(
        _cookie_name(request), session.cookie, max_age=LASTS_S, path=HOME, httponly=True,
        samesite="strict", secure=is_secure(request),
    )  # fmt: skip
    return response


def forget(request: Request, response: Response) -> Response:
    """Take the cookie away."""
    response.delete_cookie(
        _cookie_name(request), path=HOME, httponly=True, samesite="strict",
        secure=is_secure(request),
    )  # fmt: skip
    return response


def guarded(shown: Shown) -> Callable[[Catalog, Request], Response]:
    """A page for those who are logged in; others go to the login."""

    def show(catalog: Catalog, request: Request) -> Response:
        session = current_session(catalog, request)
        return see_other(HOME) if session is None else shown(catalog, request, session)

    return show


def shown_route(path: str, shown: Shown, name: str) -> Route:
    """A guarded page without a form to take."""
    show = guarded(shown)

    async def endpoint(request: Request) -> Response:
        work = partial(show, request.app.state.catalog, request)
        return await anyio.to_thread.run_sync(work, limiter=request.app.state.threads)

    return Route(path, endpoint, methods=["GET"], name=name)


def taken_route(path: str, take: Callable[[Catalog, Request, Form], Response], name: str) -> Route:
    """A form that is shown elsewhere."""

    async def endpoint(request: Request) -> Response:
        work = partial(take, request.app.state.catalog, request, await read_form(request))
        return await anyio.to_thread.run_sync(work, limiter=request.app.state.threads)

    return Route(path, endpoint, methods=["POST"], name=name)


def _cookie_name(request: Request) -> str:
    return "__Secure-ki_admin" if is_secure(request) else "ki_admin"
