"""The OpenAPI 3.1 document: addresses from their declarations, schemas from the models."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from kernelindex.api import examples
from kernelindex.api.codes import CODES
from kernelindex.api.endpoint import KEY_SCHEME
from kernelindex.api.problems import ProblemDetails
from kernelindex.resolve.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import FastAPI
    from pydantic import BaseModel

    from kernelindex.api.endpoint import Endpoint

PROBLEMS = "x-problem-codes"
"""Every problem code with its status and title, for pages that list them."""
TEMPLATE = "#/components/schemas/{model}"
ASKED = "#/components/schemas/Question{model}"
TAGS = [
    {"name": "questions", "description": "Ask for the fastest kernel, or for a name"},
    {"name": "runs", "description": "Measurements, the groups they rank in, records"},
    {"name": "objects", "description": "What was measured, on what, told by whom"},
    {"name": "people", "description": "What people write about runs, once it was reviewed"},
    {"name": "formats", "description": "Schemas of manifests, exports of everything"},
]


def build_document(app: FastAPI, endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The document of an application's addresses."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
        servers=app.servers,
        tags=TAGS,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    models = {one.answer for one in endpoints if one.answer is not None} | {ProblemDetails}
    components = document.setdefault("components", {})
    components["securitySchemes"] = {
        KEY_SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "description": "an API key, `ki_…`, made by an operator with `ki keys new`",
        }
    }
    components["schemas"] = {**_answers(models), **_question()}
    components["schemas"][ProblemDetails.__name__]["examples"] = [examples.PROBLEM]
    document[PROBLEMS] = [asdict(code) for code in CODES.values()]
    return document


def _answers(models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Every model as it is written, with those it is made of."""
    ordered = sorted(models, key=lambda model: model.__name__)
    _, bundle = models_json_schema(
        [(model, "serialization") for model in ordered], ref_template=TEMPLATE, by_alias=True
    )
    found: dict[str, Any] = bundle["$defs"]
    for name in ("ProblemDetails", "BatchItem"):
        if name in found:
            found[name].pop("default", None)
    return dict(sorted(found.items()))


def _question() -> dict[str, Any]:
    """The request as it is read: its parts are named apart from those of answers."""
    schema = Request.model_json_schema(mode="validation", by_alias=True, ref_template=ASKED)
    parts = schema.pop("$defs", {})
    schema["properties"]["axes"]["additionalProperties"] |= {"minimum": 0, "maximum": 2**53 - 1}
    schema["anyOf"] = [_names("operation"), _names("hardware")]
    return {"Question": schema, **{f"Question{name}": part for name, part in parts.items()}}


def _names(field: str) -> dict[str, Any]:
    """That a question names an operation, or hardware."""
    return {"required": [field], "properties": {field: {"type": "string"}}}
