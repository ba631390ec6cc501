"""Forms that browsers send: read within bounds, proven to come from this site, no script.

The proof for visitors is a double submit: a random cookie and, in the form, a hash of it
that only this server can make (``community.form_tokens``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kernelindex.community import (
    Clock,
    is_form_token,
    make_cookie,
    make_form_token,
    refusal,
    server_secret,
    utc_now,
)
from kernelindex.community.form_tokens import LASTS_S, is_cookie
from kernelindex.errors import RequestError
from kernelindex.web.context import told
from kernelindex.web.templating import render

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.web.context import Page

MAX_FORM_BYTES = 64 * 1024
"""2,000 characters outside ASCII take up to 24 kB in a form."""
MAX_FIELDS = 30
MEDIA_TYPE = "application/x-www-form-urlencoded"
TOKEN = "form_token"

Form = Mapping[str, str]
Show = Callable[["Catalog", "Request"], Response]
Take = Callable[["Catalog", "Request", Form], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field of a form; ``kind`` is text, number, area, choice, secret or hidden."""

    name: str = field(metadata=told("its name when sent"))
    label: str = field(metadata=told("what the reader is asked"), default="")
    kind: str = field(metadata=told("which element it is"), default="text")
    value: str = field(metadata=told("what it holds"), default="")
    hint: str = field(metadata=told("a sentence below it"), default="")
    most: int = field(metadata=told("longest value"), default=2000)
    required: bool = field(metadata=told("whether it must be filled"), default=False)
    options: tuple[tuple[str, str], ...] = field(
        metadata=told("values and labels of a choice"), default=()
    )
    problem: str = field(metadata=told("why its value was refused"), default="")


def form_route(path: str, show: Show, take: Take, name: str) -> Route:
    """A route whose GET shows a form and whose POST takes it, both off the event loop."""

    async def endpoint(request: Request) -> Response:
        catalog = request.app.state.catalog
        if request.method == "POST":
            work = partial(take, catalog, request, await read_form(request))
        else:
            work = partial(_in_one_state, catalog, show, request)
        return await anyio.to_thread.run_sync(work, limiter=request.app.state.threads)

    return Route(path, endpoint, methods=["GET", "POST"], name=name)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a sent form.

    Raises RequestError ``request.form`` for another media type, too many bytes or fields, a
    repeated field, or text that is not UTF-8.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != MEDIA_TYPE:
        raise _refused(f"a body of type {kind or 'nothing'}", MEDIA_TYPE)
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            raise _refused(f"more than {MAX_FORM_BYTES} bytes", "less")
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS,
            errors="strict",
        )  # fmt: skip
    except ValueError:
        raise _refused("fields that cannot be read", f"at most {MAX_FIELDS}, in UTF-8") from None
    found = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(found) < len(pairs):
        raise _refused("a field twice", "each once")
    return found


def clock_of(request: Request) -> Clock:
    """The site's clock; tests set their own."""
    clock: Clock = getattr(request.app.state, "clock", utc_now)
    return clock


def secret_of(catalog: Catalog) -> bytes:
    """The secret of this catalog's server."""
    return server_secret(catalog.url.render_as_string(hide_password=True))


def is_secure(request: Request) -> bool:
    """Whether the browser came by https; a proxy's word counts where uvicorn trusts it."""
    return request.url.scheme == "https"


def form_cookie(request: Request) -> str:
    """The browser's cookie for forms, a new one where it has none."""
    found = request.cookies.get(_cookie_name(request))
    return found if found is not None and is_cookie(found) else make_cookie()


def token_for(catalog: Catalog, request: Request, cookie: str, purpose: str) -> str:
    """What a form for ``purpose`` carries to a browser with this cookie."""
    return make_form_token(secret_of(catalog), cookie, purpose, clock_of(request)())


def require_token(catalog: Catalog, request: Request, form: Form, purpose: str) -> None:
    """Refuse a form that this site did not make for this browser.

    Raises:
        CommunityError: ``form.forged``.
    """
    cookie = request.cookies.get(_cookie_name(request))
    now = clock_of(request)()
    if not is_form_token(secret_of(catalog), form.get(TOKEN, ""), cookie, purpose, now):
        raise refusal(
            "form.forged",
            "this form is more than four hours old, or your browser did not send the cookie"
            " that came with it; check it and send it again",
        )


def form_response(request: Request, page: Page, cookie: str | None, status: int) -> Response:
    """A page with a form: never kept by a cache, with the cookie that its form needs."""
    response = HTMLResponse(render(page), status, headers={"cache-control": "no-store"})
    if cookie is not None:
        response.set_cookie(
            _cookie_name(request), cookie, max_age=LASTS_S, path="/", httponly=True,
            samesite="strict", secure=is_secure(request),
        )  # fmt: skip
    return response


def see_other(path: str) -> Response:
    """After a form was taken: to a page that a reload does not send again."""
    return RedirectResponse(path, 303, headers={"cache-control": "no-store"})


def _in_one_state(catalog: Catalog, show: Show, request: Request) -> Response:
    with catalog.snapshot():
        return show(catalog, request)


def _cookie_name(request: Request) -> str:
    return "__Host-ki_form" if is_secure(request) else "ki_form"


def _refused(seen: str, wanted: str) -> RequestError:
    return RequestError(f"The form has {seen}; wanted {wanted}.", code="request.form")
