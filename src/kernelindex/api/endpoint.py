"""How an address is declared: handler, parameters, answer, problems; mounted and documented.

A handler is a plain function of the catalog and the request that returns ready bytes.
FastAPI mounts it and writes the OpenAPI document from the declaration; nothing is
serialised by it. Short reads run in the event loop: on SQLite a thread costs more
(0.1 ms, and the switches of 8 threads) than most of them take. What may take long
(``slow``), and everything on PostgreSQL, where a read waits on a socket, gets a thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from kernelindex.api.bodies import read_json
from kernelindex.api.codes import CODES
from kernelindex.api.problems import MEDIA_TYPE, ProblemDetails, refuse

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pydantic import BaseModel

    from kernelindex.api.parameters import Parameter
    from kernelindex.catalog import Catalog

Handler = Callable[..., Response]
Admission = Callable[..., None]
ALWAYS = ("request.parameter_unknown", "request.query_too_long", "rate.limited", "route.method")
TROUBLE = ("unexpected", "catalog.unavailable", "catalog.stale", "catalog.read_time_limit")
KEY_SCHEME = "key"
"""The name of API keys in the document."""
FRESH_HEADERS = {
    "ETag": {
        "description": "digest of the body, or of what names it; weak where compressed",
        "schema": {"type": "string", "pattern": '^(W/)?"sha256:[0-9a-f]{64}"$'},
    },
    "Cache-Control": {"description": "how long it may be kept", "schema": {"type": "string"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address and method.

    ``answer``      model of the body; or ``schema``, its JSON Schema
    ``status``      of the answer
    ``key``         whether an API key is ``taken`` or ``needed``
    ``admit``       raises where whoever asks may not; before anything else of the request is read
    ``codes``       problem codes beyond those of every address
    ``parameters``  of the query; those of the path are in ``path``, described in ``inside``
    ``body``        schema name or schema of a request body, with an example
    """

    path: str
    name: str
    summary: str
    tag: str
    handler: Handler
    method: str = "GET"
    parameters: tuple[Parameter, ...] = ()
    inside: dict[str, tuple[str, str]] = field(default_factory=dict)
    answer: type[BaseModel] | None = None
    schema: dict[str, Any] | None = None
    media_type: str = "application/json"
    example: Any = None
    body: dict[str, Any] | None = None
    codes: tuple[str, ...] = ()
    slow: bool = False
    reads_body: int = 0
    status: int = 200
    key: str = ""
    admit: Admission | None = None

    @property
    def all_codes(self) -> tuple[str, ...]:
        """Every problem code it may answer with."""
        return tuple(dict.fromkeys((*self.codes, *ALWAYS, *TROUBLE)))


class _Plain(APIRoute):
    """A route that FastAPI documents only: the endpoint is called with the request.

    Its own handler resolves dependencies of which there are none, for 0.1 ms a request.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        return self.endpoint


def mount(app: FastAPI, endpoint: Endpoint, catalog: Catalog) -> None:
    """Add an address to an application."""
    app.router.add_api_route(
        endpoint.path,
        _callable(endpoint, catalog),
        methods=[endpoint.method],
        operation_id=endpoint.name,
        name=endpoint.name,
        summary=endpoint.summary,
        description=(endpoint.handler.__doc__ or "").strip(),
        tags=[endpoint.tag],
        status_code=endpoint.status,
        response_class=Response,
        response_model=None,
        responses=_responses(endpoint),
        openapi_extra=_extra(endpoint),
        route_class_override=_Plain,
    )


def _callable(endpoint: Endpoint, catalog: Catalog) -> Callable[[Request], Awaitable[Response]]:
    threaded = endpoint.slow or catalog.is_postgresql

    async def call(function: Callable[..., Any], *given: Any) -> Any:
        if threaded:
            return await run_in_threadpool(_in_one_state, function, catalog, *given)
        return _in_one_state(function, catalog, *given)

    async def answer(request: Request) -> Response:
        try:
            given: tuple[Any, ...] = (request,)
            if endpoint.admit is not None:
                await call(endpoint.admit, request)
            if endpoint.reads_body:
                given += (await read_json(request, endpoint.reads_body),)
            answered: Response = await call(endpoint.handler, *given)
            return answered
        except ClientDisconnect:
            raise
        except Exception as error:  # every one of them is a documented problem
            return refuse(error)

    return answer


def _in_one_state(function: Callable[..., Any], catalog: Catalog, *given: Any) -> Any:
    """The function's answer, all its reads from one state and within one time limit."""
    with catalog.snapshot():
        return function(catalog, *given)


def _responses(endpoint: Endpoint) -> dict[int | str, dict[str, Any]]:
    """What FastAPI is told of each status; problems by their codes."""
    found: dict[int | str, dict[str, Any]] = {endpoint.status: _success(endpoint)}
    if endpoint.method == "GET":
        found[304] = {"description": "The client has these bytes", "headers": FRESH_HEADERS}
    by_status: dict[int, list[str]] = {}
    for code in endpoint.all_codes:
        by_status.setdefault(CODES[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        said = "; ".join(f"`{code}`: {CODES[code].title}" for code in codes)
        schema = {"$ref": f"#/components/schemas/{ProblemDetails.__name__}"}
        found[status] = {"description": said, "content": {MEDIA_TYPE: {"schema": schema}}}
    return found


def _success(endpoint: Endpoint) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if endpoint.example is not None:
        content["example"] = endpoint.example
    if endpoint.answer is not None:
        content["schema"] = {"$ref": f"#/components/schemas/{endpoint.answer.__name__}"}
    elif endpoint.schema is not None:
        content["schema"] = endpoint.schema
    found: dict[str, Any] = {
        "description": endpoint.summary,
        "content": {endpoint.media_type: content},
    }
    if endpoint.method == "GET":
        found["headers"] = FRESH_HEADERS
    return found


def _extra(endpoint: Endpoint) -> dict[str, Any]:
    """Parameters and body, from the same declarations that read them."""
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": text,
            "schema": {"type": "string", "minLength": 1},
            "example": example,
        }
        for name, (text, example) in endpoint.inside.items()
    ]
    parameters += [one.document() for one in endpoint.parameters]
    extra: dict[str, Any] = {"parameters": parameters} if parameters else {}
    if endpoint.body is not None:
        extra["requestBody"] = {"required": True, "content": {"application/json": endpoint.body}}
    if endpoint.key:
        extra["security"] = [{KEY_SCHEME: []}, *([{}] if endpoint.key == "taken" else [])]
    return extra
