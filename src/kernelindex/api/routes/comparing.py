"""Runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.parameters import Parameter, read_query
from kernelindex.api.replies import reply
from kernelindex.resolve.compare import compare_runs
from kernelindex.resolve.dossier import Comparison

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

PARAMETERS = (
    Parameter(
        name="run",
        text="a run: an alias or 8 or more digits of its digest; give it 2 to 8 times",
        required=True,
        many=True,
        example=[examples.RUN, examples.LEADER],
    ),
)


def compare(catalog: Catalog, request: Request) -> Response:
    """Two to eight runs, each against the first: what differs, and the verdict or why none."""
    values = read_query(request, PARAMETERS)
    return reply(request, compare_runs(catalog, values["run"]))


ENDPOINTS = (
    Endpoint(
        path="/compare",
        name="compare",
        summary="Two to eight runs side by side",
        tag="runs",
        handler=compare,
        parameters=PARAMETERS,
        answer=Comparison,
        codes=(
            "request.parameter_missing",
            "request.parameter_invalid",
            "compare.count",
            "run.not_found",
            "run.ambiguous",
            "run.not_derived",
        ),
        slow=True,
    ),
)
