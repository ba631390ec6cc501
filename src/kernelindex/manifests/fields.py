"""The field types that all kinds are written in, and their frozen base model."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError

from kernelindex.ids import COMMIT, DIGEST, NAME, SLUG, TOKEN
from kernelindex.manifests.durations import PATTERN, duration_ns

MAX_INTEGER = 2**53 - 1
INSTANT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?Z$"
URL = r"^https://[^/?#\s]+\S*$"
DOUBT_CODE = r"^[A-Z][A-Z0-9_]*$"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class Model(BaseModel):
    """A frozen, strict object of a manifest: snake_case here, camelCase in JSON."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=_camel,
        protected_namespaces=(),
        defer_build=True,
        regex_engine="rust-regex",
    )


def one_of(*fields: str) -> dict[str, Any]:
    """The JSON Schema part that says: exactly one of ``fields``."""
    return {"oneOf": [{"required": [field]} for field in fields]}


def any_of(*fields: str) -> dict[str, Any]:
    """The JSON Schema part that says: at least one of ``fields``."""
    return {"anyOf": [{"required": [field]} for field in fields]}


class _Absent:
    """Drops null from an optional field: a field is absent or has a value."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema = handler(source)
        return schema["schema"] if schema["type"] == "nullable" else schema


class _FirstOnly:
    """Ends a list at its first bad item: 1 MiB of them once took 37 s and 1.5 GB to explain."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return cast("CoreSchema", {**handler(source), "fail_fast": True})


def _sorted_set(texts: tuple[str, ...]) -> tuple[str, ...]:
    # UTF-16 order, as canonical JSON orders keys; plain order is the same for ASCII.
    return tuple(sorted(set(texts), key=lambda text: text.encode("utf-16-be", "surrogatepass")))


def _to_ns(value: object) -> object:
    if not isinstance(value, str):
        return value
    nanoseconds = duration_ns(value)
    if nanoseconds is None:
        raise PydanticCustomError(
            "duration", "integer nanoseconds, or text such as '8.12 ms' that is exactly that"
        )
    return nanoseconds


def _safe_integer(value: object) -> object:
    # Strict doubles take any integer and round it, which would change what was claimed.
    if type(value) is int and abs(value) > MAX_INTEGER:
        raise PydanticCustomError("integer_range", "an integer within 2^53-1, or a double")
    return value


def _real_date(text: str) -> str:
    try:
        datetime.date(int(text[:4]), int(text[5:7]), int(text[8:10]))
    except ValueError:
        raise PydanticCustomError("date", "a day that exists") from None
    return text


T = TypeVar("T")

Maybe = Annotated[T | None, _Absent()]
Items = Annotated[tuple[T, ...], Field(strict=False), _FirstOnly()]

Text = str
Text100 = Annotated[str, Field(max_length=100)]
Text120 = Annotated[str, Field(max_length=120)]
Text200 = Annotated[str, Field(max_length=200)]
Text500 = Annotated[str, Field(max_length=500)]
Text1000 = Annotated[str, Field(max_length=1000)]
Text2000 = Annotated[str, Field(max_length=2000)]
Token = Annotated[str, Field(pattern=TOKEN)]
Slug = Annotated[str, Field(pattern=SLUG, max_length=100)]
Name = Annotated[str, Field(pattern=NAME, max_length=200)]
Digest = Annotated[str, Field(pattern=DIGEST)]
Commit = Annotated[str, Field(pattern=COMMIT)]
Url = Annotated[str, Field(pattern=URL, max_length=2000)]
Instant = Annotated[str, Field(pattern=INSTANT), AfterValidator(_real_date)]
DoubtCode = Annotated[str, Field(pattern=DOUBT_CODE, max_length=100)]

Int = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Positive = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
Number = Annotated[
    Int | Annotated[float, Field(allow_inf_nan=False)],
    Field(union_mode="left_to_right"),
    BeforeValidator(_safe_integer),
    WithJsonSchema({"type": "number"}),
]
NonNegative = Annotated[
    Count | Annotated[float, Field(ge=0, allow_inf_nan=False)],
    Field(union_mode="left_to_right"),
    BeforeValidator(_safe_integer),
    WithJsonSchema({"type": "number", "minimum": 0}),
]
Ratio = Annotated[
    Annotated[int, Field(ge=0, le=1)] | Annotated[float, Field(ge=0, le=1)],
    Field(union_mode="left_to_right"),
    BeforeValidator(_safe_integer),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Duration = Annotated[
    int,
    Field(ge=0, le=MAX_INTEGER),
    BeforeValidator(_to_ns),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER},
                {"type": "string", "pattern": PATTERN, "maxLength": 64},
            ],
        }
    ),
]
Set = Annotated[
    tuple[T, ...],
    Field(strict=False, json_schema_extra={"$comment": "a set: stored sorted, without repeats"}),
    _FirstOnly(),
    AfterValidator(_sorted_set),
]
TextSet = Set[str]
TokenSet = Set[Token]


class Artifact(Model):
    """Bytes elsewhere, named by the digest of their content."""

    uri: Text2000 = Field(description="Where the bytes were, or are.")
    digest: Digest = Field(description="SHA-256 of the bytes.")
