"""The JSON API's addresses, from its OpenAPI document: one page of all, one page of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.errors import NotFoundError
from kernelindex.resolve.problems import closest
from kernelindex.settings import public_address
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.markdown import inline
from kernelindex.web.openapi import BASE, AddressView, ApiView, api_of

if TYPE_CHECKING:
    from markupsafe import Markup
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog

EXAMPLE = "fused-moe tokens=8192 bf16 gpu:H100 pass:backward"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiPage(Page):
    """Every address of the API."""

    template: ClassVar[str] = "api.html"

    api: ApiView | None = field(metadata=told("the API, where it is part of this site"))
    rules: tuple[Markup, ...] = field(metadata=told("rules of every address, a paragraph each"))
    base: str = field(metadata=told("path below which it answers"))
    origin: str = field(metadata=told("scheme and host of this site"))
    example: str = field(metadata=told("a question to ask"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPage(Page):
    """One address of the API."""

    template: ClassVar[str] = "api_address.html"

    address: AddressView = field(metadata=told("what it takes and answers"))
    text: Markup = field(metadata=told("what else there is to know of it"))
    command: str = field(metadata=told("a line that asks it"))
    problems: tuple[tuple[str, tuple[Markup, ...]], ...] = field(
        metadata=told("each status with what it may mean")
    )


def api_docs(_catalog: Catalog, request: Request) -> ApiPage:
    """Every address."""
    api = api_of(request.app)
    paragraphs = (api.text if api else "").split("\n\n")
    return ApiPage(
        title="API",
        description="The same facts as JSON: questions, runs, groups, comparisons, records.",
        path="/api",
        section="API",
        api=api,
        rules=tuple(inline(" ".join(one.split())) for one in paragraphs if one.strip()),
        base=BASE,
        origin=_origin(request),
        example=EXAMPLE,
    )


def api_address(_catalog: Catalog, request: Request) -> AddressPage:
    """One address by its name in the OpenAPI document."""
    ident = request.path_params["ident"]
    api = api_of(request.app)
    known = {one.ident: one for one in api.addresses} if api else {}
    found = known.get(ident)
    if found is None:
        near = closest(ident, known)
        hint = f"; perhaps {near}" if near else ""
        raise NotFoundError(
            f"the API has no address called {ident!r}{hint}; /api lists them",
            code="api.not_found",
        )
    return AddressPage(
        title=f"{found.method} {found.path}",
        description=f"{found.summary}: parameters, answer and problems.",
        path=f"/api/addresses/{found.ident}",
        section="API",
        address=found,
        text=inline(found.text),
        command=_command(found, _origin(request)),
        problems=tuple(
            (one.status, tuple(inline(part) for part in one.text.split("; ")))
            for one in found.replies
        ),
    )


def _origin(request: Request) -> str:
    return public_address() or f"{request.url.scheme}://{request.url.netloc}"


def _command(address: AddressView, origin: str) -> str:
    """A ``curl`` line with the required parameters and those that have an example."""
    shown = [one for one in address.parameters if one.where == "query" and _is_shown(one)]
    path = address.path
    for one in address.parameters:
        if one.where == "path":
            path = path.replace(f"{{{one.name}}}", one.example or f"${one.name.upper()}")
    lines = [f"curl {'-G ' if shown else ''}'{origin}{path}'"]
    lines += [f"  --data-urlencode '{one.name}={one.example}'" for one in shown]
    if address.method == "POST":
        lines += ["  -H 'content-type: application/json'", "  -d @question.json"]
    return " \\\n".join(lines)


def _is_shown(parameter: object) -> bool:
    return bool(getattr(parameter, "required", False) or getattr(parameter, "example", ""))


routes = [page_route("/api", api_docs), page_route("/api/addresses/{ident}", api_address)]
