"""JSON Schemas of the manifests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import orjson
from pydantic import BaseModel, ConfigDict, Field

from kernelindex.api import examples
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.identifiers import PATH_CODES
from kernelindex.api.parameters import read_query
from kernelindex.api.replies import reply, reply_bytes
from kernelindex.errors import NotFoundError
from kernelindex.manifests import KINDS, json_schema
from kernelindex.manifests.kinds import API_VERSIONS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

SCHEMA_TYPE = "application/schema+json"
VERSIONS = {name.rpartition("/")[2]: name for name in API_VERSIONS}


class SchemaLine(BaseModel):
    """One kind of manifest in one version."""

    model_config = ConfigDict(extra="forbid")

    api_version: str = Field(description="version of the format, as manifests state it")
    kind: str = Field(description="kind of the manifest")
    title: str = Field(description="what it is")
    path: str = Field(description="address of its schema, below the API")


class SchemaList(BaseModel):
    """Every kind in every version."""

    model_config = ConfigDict(extra="forbid")

    schemas: list[SchemaLine] = Field(description="by version and kind")


def schemas(_catalog: Catalog, request: Request) -> Response:
    """Every kind of manifest in every version."""
    read_query(request, ())
    lines = [
        {
            "api_version": full,
            "kind": kind,
            "title": KINDS[kind].title,
            "path": f"/schemas/{short}/{kind}",
        }
        for short, full in VERSIONS.items()
        for kind in KINDS
    ]
    return reply(request, {"schemas": lines})


def schema(_catalog: Catalog, request: Request) -> Response:
    """The JSON Schema (2020-12) of one kind, as `ki schema` prints it."""
    read_query(request, ())
    version, kind = request.path_params["version"], request.path_params["kind"]
    if version not in VERSIONS or kind not in KINDS:
        known = f"{', '.join(VERSIONS)} and {', '.join(KINDS)}"
        raise NotFoundError(
            f"no schema {version!r} {kind!r}; there are {known}", code="schema.not_found"
        )
    return reply_bytes(request, _schema_text(kind, version), etag=None, media_type=SCHEMA_TYPE)


@cache
def _schema_text(kind: str, version: str) -> bytes:
    return orjson.dumps(json_schema(kind, VERSIONS[version]))


ENDPOINTS = (
    Endpoint(
        path="/schemas",
        name="list_schemas",
        summary="JSON Schemas of the manifests",
        tag="formats",
        handler=schemas,
        answer=SchemaList,
        example=examples.SCHEMAS,
    ),
    Endpoint(
        path="/schemas/{version}/{kind}",
        name="show_schema",
        summary="The JSON Schema of one kind of manifest",
        tag="formats",
        handler=schema,
        inside={
            "version": ("version of the format", "v1alpha2"),
            "kind": ("kind of manifest", "BenchmarkRun"),
        },
        schema={"type": "object"},
        media_type=SCHEMA_TYPE,
        codes=(*PATH_CODES, "schema.not_found"),
    ),
)
