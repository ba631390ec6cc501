"""The OpenAPI document is valid, complete, and says what the code does."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from kernelindex.api import examples
from kernelindex.api.codes import CODES
from kernelindex.api.problems import ProblemDetails
from kernelindex.api.routes import ENDPOINTS
from tests.api.factories import BASE


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{BASE}/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_it_is_of_version_3_1_and_served_below_the_base(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert document["servers"] == [{"url": BASE}]


def test_the_root_of_the_api_is_the_document(client: TestClient) -> None:
    assert client.get(f"{BASE}/").content == client.get(f"{BASE}/openapi.json").content


def test_every_problem_code_is_listed(document: dict[str, Any]) -> None:
    assert [one["code"] for one in document["x-problem-codes"]] == list(CODES)


def test_every_address_is_there_once(document: dict[str, Any]) -> None:
    found = {(path, method.upper()) for path, method, _ in operations(document)}
    assert found == {(one.path, one.method) for one in ENDPOINTS}
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= known


def test_every_schema_is_a_schema(document: dict[str, Any]) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    for path, _, operation in operations(document):
        assert operation["summary"], path
        assert operation["description"], path
        assert all(one["description"] for one in operation.get("parameters", ())), path
        inside = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"]
        assert inside == [part[1:-1] for part in path.split("/") if part.startswith("{")]


def test_every_problem_is_under_its_status(document: dict[str, Any]) -> None:
    declared = {(one.path, one.method): one for one in ENDPOINTS}
    for path, method, operation in operations(document):
        for code in declared[path, method.upper()].all_codes:
            response = operation["responses"][str(CODES[code].status)]
            assert f"`{code}`" in response["description"]
            assert list(response["content"]) == ["application/problem+json"]


def test_the_question_of_the_example_fits_its_schema(document: dict[str, Any]) -> None:
    body = document["paths"]["/resolve/kernel"]["post"]["requestBody"]["content"]
    example = body["application/json"]["example"]
    schema = {"$ref": "#/components/schemas/Question", "components": document["components"]}
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(example)
    for wrong in ({}, {"operation": ""}, {"operation": "a", "x": 1}, {"hardware": None}):
        assert not validator.is_valid(wrong), wrong


def test_examples_of_answers_fit_their_models() -> None:
    ProblemDetails.model_validate(examples.PROBLEM)
    shown = [one for one in ENDPOINTS if one.example is not None]
    assert len(shown) >= 3
    for one in shown:
        assert one.answer is not None
        one.answer.model_validate(one.example)


def test_answers_refuse_unknown_keys(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["RunDossier"]["additionalProperties"] is False
    assert "pass" in schemas["RunDossier"]["properties"]
