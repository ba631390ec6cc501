"""Changes of leaders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api.endpoint import Endpoint
from kernelindex.api.parameters import CURSOR, Parameter, limit_parameter, read_query
from kernelindex.api.replies import reply
from kernelindex.api.routes.runs import LIST_CODES, NAME_CODES
from kernelindex.resolve.dossier import RecordList
from kernelindex.resolve.lists import list_records

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

PARAMETERS = (
    Parameter(name="operation", text="operation: slug, alias or digest", example="moe-mlp"),
    Parameter(name="gpu", text="GPU product", example="H100 SXM5 80GB"),
    CURSOR,
    limit_parameter(25),
)


def records(catalog: Catalog, request: Request) -> Response:
    """Every change of a group's leader with its cause, newest first; see also the Atom feed."""
    return reply(request, list_records(catalog, **read_query(request, PARAMETERS)))


ENDPOINTS = (
    Endpoint(
        path="/records",
        name="list_records",
        summary="Changes of leaders, newest first",
        tag="runs",
        handler=records,
        parameters=PARAMETERS,
        answer=RecordList,
        codes=(*LIST_CODES, *NAME_CODES),
    ),
)
