"""Text search over names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.parameters import Parameter, read_query
from kernelindex.api.replies import reply
from kernelindex.resolve.listings import SearchResult, search

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

PARAMETERS = (
    Parameter(name="q", text="words that a name must have", example="rms norm", required=True),
    Parameter(name="limit", text="hits", number=(1, 100), default=20, code="request.limit"),
)


def search_names(catalog: Catalog, request: Request) -> Response:
    """Operations, implementations, projects and hardware whose names hold every word.

    Runs are found by filters: see `/runs`.
    """
    values = read_query(request, PARAMETERS)
    return reply(request, search(catalog, values["q"], limit=values["limit"]))


ENDPOINTS = (
    Endpoint(
        path="/search",
        name="search",
        summary="Things by words of their names",
        tag="questions",
        handler=search_names,
        parameters=PARAMETERS,
        answer=SearchResult,
        example=examples.SEARCHED,
        codes=(
            "request.parameter_missing",
            "request.parameter_repeated",
            "request.parameter_invalid",
            "request.limit",
        ),
    ),
)
