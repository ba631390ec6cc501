"""Questions: one as text or as JSON, or many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from kernelindex.api import examples
from kernelindex.api.bodies import BATCH_BYTES, QUESTION_BYTES
from kernelindex.api.endpoint import Endpoint
from kernelindex.api.guards import MOST_QUERY
from kernelindex.api.parameters import Parameter, read_query, refused
from kernelindex.api.problems import ProblemDetails, body_of
from kernelindex.api.replies import reply
from kernelindex.errors import KernelIndexError, RequestError
from kernelindex.resolve import ask_document, ask_text
from kernelindex.resolve.answer import Answer
from kernelindex.resolve.ask import MAX_ENTRIES

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

    from kernelindex.catalog import Catalog

MOST_QUESTIONS = 50
QUESTION_CODES = (
    "request.not_an_object",
    "request.field_unknown",
    "request.field_invalid",
    "request.empty",
    "request.axis_value",
    "request.axis_unknown",
    "request.axis_repeated",
    "request.dtype_unknown",
    "request.hardware_unknown",
    "request.licence_unknown",
    "request.several_gpus",
    "request.metric_unknown",
    "request.operation_unknown",
)
TEXT_CODES = (
    "query.too_long",
    "query.axis_value",
    "query.repeated",
    "query.filter_unknown",
    "query.filter_empty",
    "query.filter_value",
    *QUESTION_CODES[1:],
)
BODY_CODES = (
    "request.media_type",
    "request.body_too_large",
    "canonical.syntax",
    "canonical.encoding",
    "canonical.duplicate_key",
    "canonical.not_finite",
    "canonical.integer_range",
    "canonical.surrogate",
    "canonical.too_deep",
)
QUERY = Parameter(
    name="q",
    text="the question as text: an operation, axes as name=size, filters as name:value",
    example=examples.QUERY,
    required=True,
    longest=MOST_QUERY,
)
ENTRIES = Parameter(name="entries", text="rows of each group", number=(1, 200), default=MAX_ENTRIES)


class BatchItem(BaseModel):
    """The answer to one question of a batch, or why there is none; exactly one is given."""

    model_config = ConfigDict(extra="forbid")

    answer: Answer | None = Field(None, description="the answer")
    problem: ProblemDetails | None = Field(None, description="why there is no answer")


class Batch(BaseModel):
    """Answers in the order of the questions."""

    model_config = ConfigDict(extra="forbid")

    answers: list[BatchItem] = Field(description="one for each question")


def resolve_text(catalog: Catalog, request: HttpRequest) -> Response:
    """Answers a question as `ki resolve` does; one that cannot be read is refused."""
    values = read_query(request, (QUERY, ENTRIES))
    return reply(request, _said(ask_text(catalog, values["q"], entries=values["entries"])))


def resolve_document(catalog: Catalog, request: HttpRequest, document: Any) -> Response:
    """Answers a structured question as `ki resolve --request` does."""
    values = read_query(request, (ENTRIES,))
    return reply(request, _said(ask_document(catalog, document, entries=values["entries"])))


def resolve_batch(catalog: Catalog, request: HttpRequest, document: Any) -> Response:
    """Answers up to 50 questions, each a structured one or a text; a bad one fails alone."""
    values = read_query(request, (ENTRIES,))
    questions = document.get("questions") if isinstance(document, dict) else None
    if (
        not isinstance(questions, list)
        or not 1 <= len(questions) <= MOST_QUESTIONS
        or len(document) > 1
    ):
        raise RequestError(
            f'wanted {{"questions": [...]}} with 1 to {MOST_QUESTIONS} questions and nothing else',
            code="request.batch",
        )
    answers = [_one(catalog, question, values["entries"]) for question in questions]
    return reply(request, {"answers": answers})


def _one(catalog: Catalog, question: Any, entries: int) -> dict[str, Any]:
    try:
        if isinstance(question, str):
            return {"answer": _said(ask_text(catalog, question, entries=entries))}
        return {"answer": _said(ask_document(catalog, question, entries=entries))}
    except KernelIndexError as error:
        return {"problem": body_of(error)}


def _said(answer: Answer) -> dict[str, Any]:
    """An answer as data.

    Raises RequestError with every problem where the question could not be read.
    """
    if answer.problems:
        error = refused(answer.problems)
        error.details["suggestions"] = [one.to_dict() for one in answer.suggestions]
        raise error
    return answer.to_dict()


ENDPOINTS = (
    Endpoint(
        path="/resolve/kernel",
        name="resolve_text",
        summary="The fastest kernel for a workload, asked in words",
        tag="questions",
        handler=resolve_text,
        parameters=(QUERY, ENTRIES),
        answer=Answer,
        codes=(
            "request.parameter_missing",
            "request.parameter_repeated",
            "request.parameter_invalid",
            *TEXT_CODES,
        ),
    ),
    Endpoint(
        path="/resolve/kernel",
        name="resolve_document",
        summary="The fastest kernel for a workload, asked in JSON",
        tag="questions",
        handler=resolve_document,
        method="POST",
        parameters=(ENTRIES,),
        answer=Answer,
        body={
            "schema": {"$ref": "#/components/schemas/Question"},
            "example": examples.QUESTION,
        },
        codes=(
            "request.parameter_repeated",
            "request.parameter_invalid",
            *BODY_CODES,
            *QUESTION_CODES,
        ),
        reads_body=QUESTION_BYTES,
    ),
    Endpoint(
        path="/resolve/kernel/batch",
        name="resolve_batch",
        summary="Up to 50 questions at once",
        tag="questions",
        handler=resolve_batch,
        method="POST",
        parameters=(ENTRIES,),
        answer=Batch,
        body={
            "schema": {
                "type": "object",
                "additionalProperties": False,
                "required": ["questions"],
                "properties": {
                    "questions": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MOST_QUESTIONS,
                        "items": {
                            "description": "a structured question, or a text; "
                            "one that cannot be read has a problem for an answer",
                            "anyOf": [{"$ref": "#/components/schemas/Question"}, {}],
                        },
                    }
                },
            },
            "example": {"questions": [examples.QUESTION, examples.QUERY]},
        },
        codes=(
            "request.batch",
            "request.parameter_repeated",
            "request.parameter_invalid",
            *BODY_CODES,
        ),
        slow=True,
        reads_body=BATCH_BYTES,
    ),
)
