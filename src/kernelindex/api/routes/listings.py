"""Operations, implementations, projects, hardware and sources: lists and one of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint, Handler
from kernelindex.api.identifiers import PATH_CODES, ident_of, path_of
from kernelindex.api.parameters import CURSOR, Parameter, limit_parameter, read_query
from kernelindex.api.replies import reply
from kernelindex.api.routes.runs import LIST_CODES
from kernelindex.resolve import listings
from kernelindex.resolve.answer import Part
from kernelindex.resolve.dossier import ObjectDossier
from kernelindex.resolve.gpus import GpuDossier, GpuLine, list_gpus, show_gpu
from kernelindex.resolve.objects import show_object

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

PAGED = (CURSOR, limit_parameter())
OPERATIONS = (
    Parameter(name="family", text="family of operations", example="normalization"),
    *PAGED,
)
IMPLEMENTATIONS = (
    Parameter(name="operation", text="slug of the operation", example="moe-mlp"),
    Parameter(name="project", text="slug of the project", example="liger-kernel"),
    *PAGED,
)


class GpuList(Part):
    """GPUs that were measured on or that the table of products has."""

    hardware: tuple[GpuLine, ...] = Field(description="measured ones first, most runs first")


def operations(catalog: Catalog, request: Request) -> Response:
    """Operations, those with most runs first."""
    values = read_query(request, OPERATIONS)
    return reply(request, listings.list_operations(catalog, **values))


def implementations(catalog: Catalog, request: Request) -> Response:
    """Implementation revisions."""
    values = read_query(request, IMPLEMENTATIONS)
    return reply(request, listings.list_implementations(catalog, **values))


def projects(catalog: Catalog, request: Request) -> Response:
    """Projects, those with most runs first."""
    return reply(request, listings.list_projects(catalog, **read_query(request, PAGED)))


def hardware(catalog: Catalog, request: Request) -> Response:
    """Every GPU that was measured on, and those of the table of products that were not."""
    read_query(request, ())
    return reply(request, GpuList(hardware=list_gpus(catalog)))


def one_hardware(catalog: Catalog, request: Request) -> Response:
    """A GPU with its nominal and measured peaks, and what was measured on it."""
    read_query(request, ())
    return reply(request, show_gpu(catalog, ident_of(request)))


def sources(catalog: Catalog, request: Request) -> Response:
    """Every source with its licence, its runs and the files that were read."""
    read_query(request, ())
    return reply(request, listings.list_sources(catalog))


def one_source(catalog: Catalog, request: Request) -> Response:
    """A source."""
    read_query(request, ())
    return reply(request, listings.show_source(catalog, ident_of(request)))


def _object_handler(word: str) -> Handler:
    def show(catalog: Catalog, request: Request) -> Response:
        read_query(request, ())
        return reply(request, show_object(catalog, word, ident_of(request)))

    show.__doc__ = f"Everything known of one {word}, as `ki show {word}` prints it."
    return show


def _object(word: str, plural: str) -> Endpoint:
    return Endpoint(
        path=f"/{plural}/{{ident}}",
        name=f"show_{word}",
        summary=f"Everything known of one {word}",
        tag="objects",
        handler=_object_handler(word),
        inside=path_of(word, examples.IDENTS[word]),
        answer=ObjectDossier,
        codes=(*PATH_CODES, f"{word}.not_found", f"{word}.ambiguous"),
        slow=True,
    )


ENDPOINTS = (
    Endpoint(
        path="/operations",
        name="list_operations",
        summary="Operations",
        tag="objects",
        handler=operations,
        parameters=OPERATIONS,
        answer=listings.OperationList,
        codes=LIST_CODES,
    ),
    _object("operation", "operations"),
    Endpoint(
        path="/implementations",
        name="list_implementations",
        summary="Implementation revisions",
        tag="objects",
        handler=implementations,
        parameters=IMPLEMENTATIONS,
        answer=listings.ImplementationList,
        codes=LIST_CODES,
    ),
    _object("implementation", "implementations"),
    Endpoint(
        path="/projects",
        name="list_projects",
        summary="Projects",
        tag="objects",
        handler=projects,
        parameters=PAGED,
        answer=listings.ProjectList,
        codes=LIST_CODES,
    ),
    _object("project", "projects"),
    _object("workload", "workloads"),
    _object("protocol", "protocols"),
    _object("environment", "environments"),
    Endpoint(
        path="/hardware",
        name="list_hardware",
        summary="GPUs",
        tag="objects",
        handler=hardware,
        answer=GpuList,
    ),
    Endpoint(
        path="/hardware/{ident}",
        name="show_hardware",
        summary="One GPU with its peaks",
        tag="objects",
        handler=one_hardware,
        inside={"ident": ("product id or label of the hardware, as listed", "h100-sxm5-80gb")},
        answer=GpuDossier,
        codes=(*PATH_CODES, "hardware.not_found"),
    ),
    Endpoint(
        path="/sources",
        name="list_sources",
        summary="Where the numbers come from",
        tag="objects",
        handler=sources,
        answer=listings.SourceList,
    ),
    Endpoint(
        path="/sources/{ident}",
        name="show_source",
        summary="One source",
        tag="objects",
        handler=one_source,
        inside={"ident": ("slug of the source", "liger-kernel-bench")},
        answer=listings.SourceLine,
        codes=(*PATH_CODES, "source.not_found"),
    ),
)
