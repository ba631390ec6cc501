"""Runs: a list by filters, one with everything known of it, and its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.identifiers import PATH_CODES, ident_of, path_of
from kernelindex.api.parameters import CURSOR, Parameter, limit_parameter, read_query
from kernelindex.api.replies import reply, reply_bytes
from kernelindex.api.routes.manifests import MANIFEST_SCHEMA
from kernelindex.errors import NotFoundError
from kernelindex.manifests import canonical
from kernelindex.resolve.dossier import RunDossier, RunList
from kernelindex.resolve.lists import ASKED_STATUSES, list_runs
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.show import show_run

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

FILTERS = (
    Parameter(name="operation", text="operation: slug, alias or digest", example="moe-mlp"),
    Parameter(name="gpu", text="GPU product or family", example="H100"),
    Parameter(name="source", text="source slug"),
    Parameter(name="project", text="project of the implementation"),
    Parameter(name="implementation", text="implementation: alias, slug or digest"),
    Parameter(name="workload", text="workload: alias, slug or digest"),
    Parameter(
        name="status",
        text="status as shown: what did not pass and was retracted is `withdrawn`. Without it"
        " runs that were aborted or withdrawn are left out and counted in `left_out`; `any` lists"
        " every run",
        choices=ASKED_STATUSES,
    ),
)
LISTED = (*FILTERS, CURSOR, limit_parameter(25))
LIST_CODES = (
    "request.parameter_repeated",
    "request.parameter_invalid",
    "request.limit",
    "request.cursor",
)
NAME_CODES = (
    "request.operation_unknown",
    "request.hardware_unknown",
    "request.several_gpus",
)


def runs(catalog: Catalog, request: Request) -> Response:
    """Runs newest first, failed and superseded ones too, as `ki runs` lists them.

    What was aborted or withdrawn is listed where `status` asks for it.
    """
    values = read_query(request, LISTED)
    return reply(request, list_runs(catalog, **values))


def run(catalog: Catalog, request: Request) -> Response:
    """Everything known of a run, as `ki show run` prints it.

    An alias or 8 or more digits of its digest name it; ask for the whole digest where
    several match.
    """
    read_query(request, ())
    return reply(request, show_run(catalog, ident_of(request)))


def run_manifest(catalog: Catalog, request: Request) -> Response:
    """The run's canonical manifest with its editorial metadata.

    The digest is over the manifest without metadata; `/manifests/{digest}` has those bytes.
    """
    read_query(request, ())
    found = locate(catalog, "run", ident_of(request))
    stored = catalog.manifest(found.digest)
    if stored is None:
        raise NotFoundError(f"{found.digest} is not stored", code="manifest.not_found")
    return reply_bytes(request, canonical.dumps(stored.document), etag=None)


ENDPOINTS = (
    Endpoint(
        path="/runs",
        name="list_runs",
        summary="Runs by filters",
        tag="runs",
        handler=runs,
        parameters=LISTED,
        answer=RunList,
        codes=(
            *LIST_CODES,
            *NAME_CODES,
            "implementation.not_found",
            "implementation.ambiguous",
            "workload.not_found",
            "workload.ambiguous",
        ),
        slow=True,
    ),
    Endpoint(
        path="/runs/{ident}",
        name="show_run",
        summary="Everything known of one run",
        tag="runs",
        handler=run,
        inside=path_of("run", examples.RUN),
        answer=RunDossier,
        codes=(*PATH_CODES, "run.not_found", "run.ambiguous", "run.not_derived"),
    ),
    Endpoint(
        path="/runs/{ident}/manifest",
        name="show_run_manifest",
        summary="The canonical manifest of a run",
        tag="runs",
        handler=run_manifest,
        inside=path_of("run", examples.RUN),
        schema=MANIFEST_SCHEMA,
        codes=(*PATH_CODES, "run.not_found", "run.ambiguous"),
    ),
)
