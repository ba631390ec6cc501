"""The API's own description as parts of a page; nothing of it is written twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from starlette.routing import Mount

from kernelindex.web.context import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.applications import Starlette

    Json = Mapping[str, Any]

BASE = "/api/v1"
CODES = "x-problem-codes"
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterView:
    """One parameter, or one field of a body or an answer."""

    name: str = field(metadata=told("its name"))
    kind: str = field(metadata=told("its type in words"))
    where: str = field(metadata=told("query or path; empty for a field"))
    required: bool = field(metadata=told("whether it must be given"))
    text: str = field(metadata=told("what it is"))
    example: str = field(metadata=told("an example, where there is one"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyView:
    """One status that an address answers with."""

    status: str = field(metadata=told("HTTP status"))
    text: str = field(metadata=told("what it means"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressView:
    """One method of one address."""

    ident: str = field(metadata=told("its name in the description"))
    method: str = field(metadata=told("HTTP method"))
    path: str = field(metadata=told("its path, with the names of its parts in braces"))
    tag: str = field(metadata=told("the group it is in"))
    summary: str = field(metadata=told("what it answers, in a few words"))
    text: str = field(metadata=told("what else there is to know"))
    parameters: tuple[ParameterView, ...] = field(metadata=told("query and path parameters"))
    body: tuple[ParameterView, ...] = field(metadata=told("fields of the body it takes"))
    answer: str = field(metadata=told("name of the object it answers with"))
    fields: tuple[ParameterView, ...] = field(metadata=told("fields of that object"))
    replies: tuple[ReplyView, ...] = field(metadata=told("every status it answers with"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeView:
    """One problem code; the ``type`` of a problem leads to its line on the page."""

    code: str = field(metadata=told("stable code"))
    status: int = field(metadata=told("HTTP status that it comes with"))
    title: str = field(metadata=told("what it means"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiView:
    """The whole description."""

    title: str = field(metadata=told("its name and version"))
    text: str = field(metadata=told("rules of every address"))
    tags: tuple[tuple[str, str], ...] = field(metadata=told("groups of addresses, with words"))
    addresses: tuple[AddressView, ...] = field(metadata=told("addresses in order"))
    codes: tuple[CodeView, ...] = field(metadata=told("every problem code"))


@lru_cache(maxsize=4)
def api_of(app: Starlette) -> ApiView | None:
    """The API that is mounted in an application, described; None where none is."""
    for route in app.routes:
        if isinstance(route, Mount) and route.path == BASE and hasattr(route.app, "openapi"):
            return read_api(route.app.openapi())
    return None


def read_api(document: Json) -> ApiView:
    """An OpenAPI document as a view."""
    info = document["info"]
    addresses = [
        _address(document, path, method, item[method])
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    ]
    tags = tuple((tag["name"], tag.get("description", "")) for tag in document.get("tags", ()))
    return ApiView(
        title=f"{info['title']} API {info['version']}",
        text=info.get("description", ""),
        tags=tags,
        addresses=tuple(addresses),
        codes=tuple(CodeView(**one) for one in document.get(CODES, ())),
    )


def _address(document: Json, path: str, method: str, item: Json) -> AddressView:
    content = item["responses"].get("200", {}).get("content", {})
    schema: Json = next((one.get("schema", {}) for one in content.values()), {})
    asked = item.get("requestBody", {}).get("content", {})
    body: Json = next((one.get("schema", {}) for one in asked.values()), {})
    return AddressView(
        ident=item.get("operationId", f"{method}{path}"),
        method=method.upper(),
        path=f"{BASE}{path}",
        tag=next(iter(item.get("tags", ())), ""),
        summary=item.get("summary", ""),
        text=item.get("description", ""),
        parameters=tuple(_parameter(document, one) for one in item.get("parameters", ())),
        body=tuple(_fields(document, body)),
        answer=_kind(document, schema) if schema else ", ".join(content),
        fields=tuple(_fields(document, schema)),
        replies=tuple(
            ReplyView(status=status, text=reply.get("description", ""))
            for status, reply in item["responses"].items()
        ),
    )


def _parameter(document: Json, one: Json) -> ParameterView:
    schema = one.get("schema", {})
    return ParameterView(
        name=one["name"],
        kind=_kind(document, schema),
        where=one["in"],
        required=bool(one.get("required")),
        text=one.get("description", ""),
        example=str(one.get("example", schema.get("example", ""))),
    )


def _fields(document: Json, schema: Json) -> Iterable[ParameterView]:
    resolved = _resolve(document, schema)
    if resolved.get("type") == "array":
        resolved = _resolve(document, resolved.get("items", {}))
    required = resolved.get("required", ())
    for name, one in resolved.get("properties", {}).items():
        yield ParameterView(
            name=name,
            kind=_kind(document, one),
            where="",
            required=name in required,
            text=one.get("description", ""),
            example="",
        )


def _resolve(document: Json, schema: Json) -> Json:
    """What a reference names; a schema that is none stays."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: Json = document.get("components", {}).get("schemas", {}).get(name, schema)
    return found


def _kind(document: Json, schema: Json) -> str:
    """The type of a schema in words: ``text``, ``list of RunLine``, ``number or nothing``."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return " or ".join(dict.fromkeys(_kind(document, one) for one in schema[either]))
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(document, schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map to {_kind(document, schema['additionalProperties'])}"
    return {"string": "text", "null": "nothing", "boolean": "yes or no"}.get(str(kind), str(kind))
