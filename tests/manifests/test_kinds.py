"""Every kind of both versions, field by field, from full samples made of the schemas."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from kernelindex.errors import ManifestError
from kernelindex.manifests import API_VERSIONS, KINDS, V1ALPHA1, V1ALPHA2, parse
from kernelindex.manifests.kinds import json_schema
from tests.manifests.factories import full

EVERY = [(kind, version) for version in API_VERSIONS for kind in KINDS]
each_kind = pytest.mark.parametrize(
    ("kind", "version"), EVERY, ids=[f"{k}-{v[-8:]}" for k, v in EVERY]
)
Step = str | int


def paths(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """The path of every field and item below ``value``."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from paths(item, (*path, key))


def at(document: Any, path: tuple[Step, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def changed(document: Any, path: tuple[Step, ...], value: Any) -> Any:
    """A copy with ``value`` at ``path``; without the field where ``value`` is ``...``."""
    result = copy.deepcopy(document)
    parent = at(result, path[:-1])
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return result


def refusal(document: Any) -> list[dict[str, str]]:
    with pytest.raises(ManifestError) as caught:
        parse(document)
    problems: list[dict[str, str]] = caught.value.details["problems"]
    return problems


def dotted(path: tuple[Step, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def test_there_are_13_kinds() -> None:
    assert len(KINDS) == 13


@each_kind
def test_a_manifest_with_every_field_is_kept_as_it_is(kind: str, version: str) -> None:
    document = full(kind, version)
    manifest = parse(document)
    assert manifest.document == document
    assert (manifest.kind, manifest.api_version, manifest.name) == (kind, version, "text")
    assert parse(manifest.document).digest == manifest.digest


@each_kind
def test_null_is_refused_everywhere(kind: str, version: str) -> None:
    document = full(kind, version)
    for path in paths({k: document[k] for k in ("metadata", "spec")}):
        (problem, *_) = refusal(changed(document, path, None))
        assert (problem["path"], problem["rule"]) == (dotted(path), "null")


@each_kind
def test_unknown_fields_are_refused_everywhere(kind: str, version: str) -> None:
    document = full(kind, version)
    for path in [(), *paths(document)]:
        inside = at(document, path)
        if isinstance(inside, dict) and list(inside) != ["key"]:
            (problem, *_) = refusal(changed(document, (*path, "surprise"), 1))
            assert problem["path"] == dotted((*path, "surprise"))
            assert (problem["rule"], problem["seen"]) == ("unknown_field", "1")


@each_kind
def test_only_optional_fields_may_be_absent(kind: str, version: str) -> None:
    document, schema = full(kind, version), json_schema(kind, version)
    for path in paths(document):
        if isinstance(path[-1], int) or path[-1] == "key":
            continue
        without = changed(document, path, ...)
        if _is_required(schema, path):
            assert refusal(without)[0]["path"].startswith(dotted(path[:-1]))
        else:
            assert parse(without).kind == kind


def _is_required(schema: Any, path: tuple[Step, ...]) -> bool:
    defs, required = schema["$defs"], False
    for step in path:
        if "$ref" in schema:
            schema = defs[schema["$ref"].rpartition("/")[2]]
        if isinstance(step, int) or step == "key":
            schema = schema.get("items") or schema.get("additionalProperties")
            continue
        # With one of the pair in the sample, that one cannot be left out.
        pair = [branch["required"][0] for branch in schema.get("oneOf", [])]
        required = step in schema.get("required", ()) or step in pair
        schema = schema["properties"][step]
    return required


@each_kind
def test_a_value_of_another_type_is_refused(kind: str, version: str) -> None:
    document = full(kind, version)
    for path in paths({k: document[k] for k in ("metadata", "spec")}):
        value = at(document, path)
        wrong: Any = [[]] if not isinstance(value, list) else {"a": 1}
        problems = refusal(changed(document, path, wrong))
        assert problems[0]["path"].startswith(dotted(path))


@pytest.mark.parametrize("kind", KINDS)
def test_v1alpha2_accepts_every_spec_of_v1alpha1(kind: str) -> None:
    old = parse(full(kind, V1ALPHA1))
    new = parse({**full(kind, V1ALPHA1), "apiVersion": V1ALPHA2})
    assert new.document["spec"] == old.document["spec"]
    assert new.digest != old.digest


def test_the_envelope() -> None:
    document = full("SoftwareProject", V1ALPHA1)
    assert refusal([])[0]["wanted"] == "an object: a manifest"
    assert refusal({})[0] == {
        "path": "apiVersion",
        "rule": "required",
        "seen": "nothing",
        "wanted": "a value; the field is required",
    }
    assert refusal({**document, "kind": "Project"})[0]["wanted"].startswith("one of OperationSpec,")
    assert refusal({**document, "apiVersion": "v1"})[0]["rule"] == "choice"
    assert refusal({**document, "kind": ["a"]})[0]["seen"] == '["a"]'
    assert refusal({**document, "spec": 3})[0]["path"] == "spec"
    assert refusal({**document, "status": {}})[0]["path"] == "status"
