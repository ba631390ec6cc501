"""Groups of comparable results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.identifiers import PATH_CODES, ident_of
from kernelindex.api.parameters import Parameter, read_query
from kernelindex.api.replies import reply
from kernelindex.resolve.group import Group, show_group

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

PARAMETERS = (Parameter(name="entries", text="entries shown", number=(1, 500), default=200),)


def cohort(catalog: Catalog, request: Request) -> Response:
    """A group with its entries in rank order, its bests, exclusions and records.

    Ranks are ranges, and doubts stand beside them.
    """
    values = read_query(request, PARAMETERS)
    found = show_group(catalog, ident_of(request), entries=values["entries"])
    return reply(request, found)


ENDPOINTS = (
    Endpoint(
        path="/cohorts/{ident}",
        name="show_cohort",
        summary="One group of comparable results",
        tag="runs",
        handler=cohort,
        parameters=PARAMETERS,
        inside={"ident": ("8 or more hex digits of the group's key", examples.COHORT)},
        answer=Group,
        codes=(
            *PATH_CODES,
            "request.parameter_repeated",
            "request.parameter_invalid",
            "cohort.not_found",
        ),
        slow=True,
    ),
)
