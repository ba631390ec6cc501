"""Field tables of the reference pages, generated from the JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kernelindex.ids import COMMIT, DIGEST, NAME, SLUG, TOKEN
from kernelindex.manifests.durations import PATTERN as DURATION
from kernelindex.manifests.fields import DOUBT_CODE, INSTANT, MAX_INTEGER, URL
from kernelindex.manifests.kinds import KINDS, V1ALPHA1, V1ALPHA2
from kernelindex.manifests.schema import build_schema

__all__ = ["Row", "field_table", "fill_tables", "rows"]

_MARKED = re.compile(r"(<!-- fields: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_PATTERNS = {
    TOKEN: "token",
    SLUG: "slug",
    NAME: "name",
    DIGEST: "digest",
    COMMIT: "commit",
    INSTANT: "instant",
    URL: "url",
    DOUBT_CODE: "upper-case token",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One field: dotted path (``[]`` each item, ``{}`` each value of a map)."""

    path: str
    type: str
    required: bool
    description: str


def rows(kind: str, api_version: str) -> tuple[Row, ...]:
    """Every field of ``spec`` (or of ``metadata`` for the name Metadata), depth first."""
    schema = build_schema("OperationSpec" if kind == "Metadata" else kind, api_version)
    part = "metadata" if kind == "Metadata" else "spec"
    root = _resolve(schema["properties"][part], schema["$defs"])
    return tuple(_object_rows(root, "", schema["$defs"]))


def field_table(kind: str, api_version: str) -> str:
    """The Markdown table of ``kind``; fields that v1alpha1 lacks carry ``+``."""
    before = {row.path for row in rows(kind, V1ALPHA1)}
    lines = ["| field | type | needed | meaning |", "|---|---|---|---|"]
    for row in rows(kind, api_version):
        new = " **+**" if api_version == V1ALPHA2 and row.path not in before else ""
        needed = "yes" if row.required else ""
        lines.append(f"| `{row.path}`{new} | {row.type} | {needed} | {row.description} |")
    return "\n".join(lines) + "\n"


def fill_tables(page: str, api_version: str) -> str:
    """``page`` with the table of each kind between its ``fields`` and ``end`` comments."""

    def table(match: re.Match[str]) -> str:
        kind = match[2]
        if kind != "Metadata" and kind not in KINDS:
            raise ValueError(f"no kind {kind!r} for the marked table")
        return f"{match[1]}{field_table(kind, api_version)}{match[3]}"

    return _MARKED.sub(table, page)


def _object_rows(schema: Mapping[str, Any], prefix: str, defs: Mapping[str, Any]) -> Iterator[Row]:
    for name, field in schema.get("properties", {}).items():
        resolved = _resolve(field, defs)
        path = f"{prefix}{name}"
        description = field.get("description") or resolved.get("description", "")
        required = name in schema.get("required", ())
        yield Row(path, _type(resolved, defs), required, description.replace("|", "\\|"))
        yield from _inner_rows(resolved, path, defs)


def _inner_rows(schema: Mapping[str, Any], path: str, defs: Mapping[str, Any]) -> Iterator[Row]:
    if isinstance(schema.get("items"), Mapping):
        yield from _inner_rows(_resolve(schema["items"], defs), f"{path}[]", defs)
    elif isinstance(schema.get("additionalProperties"), Mapping):
        yield from _inner_rows(_resolve(schema["additionalProperties"], defs), f"{path}{{}}", defs)
    elif schema.get("title") != "Artifact":
        yield from _object_rows(schema, f"{path}.", defs)


def _resolve(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in schema:
        found: Mapping[str, Any] = defs[schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _type(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    schema = _resolve(schema, defs)
    if schema.get("title") == "Artifact":
        return "artifact"
    if "anyOf" in schema and "properties" not in schema:
        if schema["anyOf"][-1].get("pattern") == DURATION:
            return "duration"
        return " or ".join(_type(branch, defs) for branch in schema["anyOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = str(schema.get("type", "any"))
    return {"string": _text, "array": _list, "object": _map, "integer": _number}.get(
        kind, _number if kind == "number" else _plain
    )(schema, defs)


def _plain(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    return "true or false" if schema["type"] == "boolean" else str(schema["type"])


def _text(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    pattern = schema.get("pattern")
    name = _PATTERNS.get(pattern, f"`{pattern}`") if pattern else "text"
    longest = schema.get("maxLength")
    return f"{name} ≤ {longest}" if longest and name == "text" else name


def _list(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"pair of {_type(schema['prefixItems'][0], defs)}"
    low, high = schema.get("minItems"), schema.get("maxItems")
    bounds = f" ({low or 0} to {high})" if high else f" ({low} or more)" if low else ""
    name = "set" if "$comment" in schema else "list"
    return f"{name}{bounds} of {_type(schema['items'], defs)}"


def _map(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    values = schema.get("additionalProperties")
    if not isinstance(values, Mapping):
        return "object"
    return f"map from {_type(schema['propertyNames'], defs)} to {_type(values, defs)}"


def _number(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    high = None if high == MAX_INTEGER else high
    low = None if low == -MAX_INTEGER else low
    if low is not None and high is not None:
        return f"{schema['type']} {low} to {high}"
    return str(schema["type"]) if low is None else f"{schema['type']} ≥ {low}"
