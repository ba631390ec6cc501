"""What a contribution may say: strict models with limits; texts are data, kept as written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kernelindex.community.checks import is_link, is_storable
from kernelindex.community.refusals import refusal
from kernelindex.manifests.problems import Problem, read_problems, show

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT = 2000
MAX_LINES = 60
MAX_HARDWARE = 200
MAX_SOFTWARE = 500
MAX_VALUE = 1e18
MAX_CONTENT_BYTES = 16_384
"""A request that is longer is refused before it is read."""


def _check_text(text: str) -> str:
    if not is_storable(text):
        raise PydanticCustomError("characters", "text without NUL and without lone surrogates")
    if text.count("\n") >= MAX_LINES:
        raise PydanticCustomError("lines", "at most 60 lines")
    return text


def _check_said(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "text that says something")
    return _check_text(text)


def _check_link(text: str) -> str:
    if not is_link(text):
        raise PydanticCustomError(
            "link", "an address that begins with https://, in ASCII, without a user name"
        )
    return text


Said = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_check_said)]
Link = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_check_link)]
Hardware = Annotated[str, StringConstraints(max_length=MAX_HARDWARE), AfterValidator(_check_said)]
Software = Annotated[str, StringConstraints(max_length=MAX_SOFTWARE), AfterValidator(_check_said)]
Value = Annotated[float, Field(gt=0, le=MAX_VALUE, allow_inf_nan=False)]

Unit = Literal["ns", "us", "ms", "s", "bytes"]
Outcome = Literal["confirmed", "differs", "failed"]
Reason = Literal[
    "wrong_value",
    "wrong_workload",
    "wrong_attribution",
    "not_correct",
    "suspected_cheat",
    "licence",
    "duplicate",
    "other",
]


class Content(BaseModel):
    """Base of what people write: frozen, strict, nothing unknown."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    def stored(self) -> dict[str, Any]:
        """What is kept: the fields that have a value."""
        return self.model_dump(exclude_none=True)


class Reproduction(Content):
    """That somebody ran the same kernel on the same workload, and what came out."""

    outcome: Outcome = Field(description="whether it came out as the run says")
    value: Value | None = Field(None, description="what was measured, in the run's statistic")
    unit: Unit | None = Field(None, description="unit of the value")
    hardware: Hardware = Field(description="the machine it ran on, in words")
    software: Software | None = Field(None, description="versions of what it ran with, in words")
    text: Said | None = Field(None, description="anything else, plain text")
    link: Link | None = Field(None, description="https address of a log or a script")

    @model_validator(mode="after")
    def _value_with_unit(self) -> Reproduction:
        if (self.value is None) != (self.unit is None):
            raise PydanticCustomError("pair", "value and unit together, or neither")
        if self.outcome == "failed" and self.value is not None:
            raise PydanticCustomError("outcome", "no value where the outcome is failed")
        return self


class Note(Content):
    """A remark on a run."""

    text: Said = Field(description="the note, plain text")
    link: Link | None = Field(None, description="https address of a source for it")


class Report(Content):
    """That something is wrong with a run."""

    reason: Reason = Field(description="what kind of thing is wrong")
    text: Said = Field(description="what is wrong and how one can see it, plain text")
    link: Link | None = Field(None, description="https address of a source for it")


ATTESTATIONS: dict[str, type[Content]] = {"reproduction": Reproduction, "note": Note}
_PLAIN_RULES = {"greater_than": "range", "string_unicode": "characters"}
"""Our words for rules that pydantic names in its own way."""


def parse_attestation(document: object) -> tuple[str, Content]:
    """The kind and content of an attestation: an object whose ``kind`` says which.

    Raises:
        CommunityError: ``contribution.invalid`` with every problem.
    """
    if not isinstance(document, dict):
        raise _refused([Problem("", "type", show(document), "an object")])
    kind = document.get("kind")
    model = ATTESTATIONS.get(kind) if isinstance(kind, str) else None
    if model is None:
        wanted = f"one of {', '.join(ATTESTATIONS)}"
        raise _refused([Problem(".kind", "choice", show(kind), wanted)])
    fields = {name: value for name, value in document.items() if name != "kind"}
    return str(kind), _validate(model, fields)


def parse_report(document: object) -> Report:
    """The content of a report.

    Raises:
        CommunityError: ``contribution.invalid`` with every problem.
    """
    report = _validate(Report, document)
    assert isinstance(report, Report)
    return report


def content_text(content: Mapping[str, Any]) -> str:
    """Content as the text that is stored and named by its digest."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _validate(model: type[Content], document: object) -> Content:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _refused(read_problems(error, "", document)) from None


def _refused(problems: list[Problem]) -> Exception:
    listed = [_problem(one) for one in problems]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return refusal("contribution.invalid", listed[0]["text"] + more, problems=listed)


def _problem(one: Problem) -> dict[str, Any]:
    """A problem in the form that every surface shows: where it is as a JSON pointer."""
    rule = _PLAIN_RULES.get(one.rule, one.rule)
    where = one.path.replace(".", "/")
    place = f" at {where}" if where else ""
    return {
        "code": f"contribution.{rule}",
        "where": where,
        "seen": one.seen,
        "wanted": one.wanted,
        "correction": None,
        "text": f"Got {one.seen}{place}; wanted {one.wanted}.",
    }
