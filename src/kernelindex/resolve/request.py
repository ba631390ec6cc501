"""The question: one frozen request, however it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernelindex.manifests.problems import explain, show
from kernelindex.resolve.problems import Problem, closest

Pass = Literal["forward", "backward", "full", "inference"]
Evidence = Literal["reported", "reproducible", "verified", "replicated"]
MAX_AXIS = 2**53 - 1
JSON_NAMES: Mapping[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
}
"""What people call what Python calls otherwise."""


class Policy(BaseModel):
    """What an entry must have to be in an answer; it never changes a rank.

    What lacks it is left out of every list, counted with the reason; ranks and ratios stay
    as among all entries.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    minimum_evidence: Evidence = Field("reported", description="weakest evidence level accepted")
    licenses: tuple[str, ...] = Field(
        (), strict=False, max_length=32, description="SPDX expressions accepted; empty accepts all"
    )
    installable: bool = Field(False, description="only entries that pass the deployability list")

    @property
    def asks_anything(self) -> bool:
        """Whether the policy can exclude an entry at all."""
        return self != Policy()


class Request(BaseModel):
    """A question about the fastest kernel for a workload, as asked.

    Names are kept as typed; ``interpret`` says what each was read as. At least one of
    ``operation`` and ``hardware`` is given. A left-out ``pass`` is never defaulted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    operation: str | None = Field(
        None, min_length=1, max_length=200, description="operation: slug, family, alias or digest"
    )
    axes: Mapping[str, int] = Field(
        default_factory=dict, max_length=64, description="axis sizes; axis names or their aliases"
    )
    dtypes: tuple[str, ...] = Field(
        (), strict=False, max_length=16, description="element dtypes some tensor must have"
    )
    hardware: str | None = Field(
        None, min_length=1, max_length=200, description="GPU product or family"
    )
    timed_pass: Pass | None = Field(
        None, alias="pass", description="forward, backward, full or inference; never defaulted"
    )
    framework: str | None = Field(
        None, min_length=1, max_length=100, description="project or language of the implementation"
    )
    source: str | None = Field(
        None, min_length=1, max_length=100, description="only evidence from this source"
    )
    metric: str | None = Field(
        None, min_length=1, max_length=100, description="metric; latency unless only others exist"
    )
    policy: Policy = Field(default_factory=Policy, description="what an entry must have")

    def to_dict(self) -> dict[str, Any]:
        """The request as JSON-ready data, what was left out left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def parse_request(document: Any) -> Request | tuple[Problem, ...]:
    """Read a structured request strictly.

    Returns every problem instead of a request when a field is unknown or wrong, or when
    neither an operation nor hardware is named.
    """
    if not isinstance(document, Mapping):
        seen = JSON_NAMES.get(type(document), type(document).__name__)
        return (Problem.of("request.not_an_object", "", seen, "a JSON object with `operation`"),)
    try:
        request = Request.model_validate(dict(document), by_name=False, by_alias=True)
    except ValidationError as error:
        return tuple(_problem(item) for item in error.errors(include_url=False))
    problems = (*_emptiness(request), *_axis_problems(request))
    return problems or request


def _emptiness(request: Request) -> tuple[Problem, ...]:
    if request.operation or request.hardware:
        return ()
    wanted = "an `operation` (such as moe-mlp), `hardware` (such as H100), or both"
    return (Problem.of("request.empty", "", "neither", wanted),)


def _axis_problems(request: Request) -> tuple[Problem, ...]:
    wanted = f"a whole number from 0 to {MAX_AXIS}"
    return tuple(
        Problem.of("request.axis_value", f"/axes/{name}", str(value), wanted)
        for name, value in request.axes.items()
        if not 0 <= value <= MAX_AXIS
    )


def _problem(error: Any) -> Problem:
    """One pydantic error as a problem with a correction where a name is close."""
    location = [str(part) for part in error["loc"]]
    where = "/" + "/".join(location)
    if error["type"] == "extra_forbidden":
        return _unknown_field(where, location)
    seen = error["input"]
    if error["type"] == "string_unicode":
        return Problem.of("request.field_invalid", where, show(seen), "text in UTF-8")
    _, wanted = explain(error["type"], error.get("ctx", {}), error["msg"], seen)
    return Problem.of("request.field_invalid", where, show(seen), wanted)


def _unknown_field(where: str, location: list[str]) -> Problem:
    model: type[BaseModel] = Policy if location[0] == "policy" else Request
    fields = [field.alias or name for name, field in model.model_fields.items()]
    correction = closest(location[-1], fields)
    wanted = "one of " + ", ".join(fields)
    return Problem.of("request.field_unknown", where, location[-1], wanted, correction)
