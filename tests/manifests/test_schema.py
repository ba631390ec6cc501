"""The JSON Schemas: current, valid, and in agreement with the models."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import pytest

from kernelindex.errors import KernelIndexError, ManifestError
from kernelindex.manifests import API_VERSIONS, KINDS, V1ALPHA1, V1ALPHA2, json_schema, parse
from kernelindex.manifests import schema as generator
from tests.manifests import factories as make
from tests.manifests.mutations import mutate_tree
from tests.support.shared import CHECKOUT

EVERY = [(kind, version) for version in API_VERSIONS for kind in KINDS]
# Rules that JSON Schema cannot say, or that hold between fields.
BEYOND_SCHEMA = {
    "cyclic_axes", "date", "duration", "expression", "hot_flush", "integer_range",
    "recorded_artifact", "repeated_name", "unknown_axis",
}  # fmt: skip


def test_the_generated_files_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    folders = ["--write", str(CHECKOUT / "schemas"), "--docs", str(CHECKOUT / "docs/reference")]
    assert generator.main([*folders, "--check"]) == 0, (
        "run: python -m kernelindex.manifests.schema --write schemas --docs docs/reference\n"
        + capsys.readouterr().out
    )


def test_no_other_schema_files_lie_around() -> None:
    folder = CHECKOUT / "schemas"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.json")}
    assert found == set(generator.schema_files())
    assert len(found) == 26


@pytest.mark.parametrize("version", [V1ALPHA1, V1ALPHA2])
def test_the_pages_have_a_table_for_every_kind(version: str) -> None:
    page = CHECKOUT / f"docs/reference/manifests-{version[-8:]}.md"
    for kind in [*KINDS, "Metadata"]:
        assert f"<!-- fields: {kind} -->\n| field |" in page.read_text()


def test_writing_and_checking(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--write", str(tmp_path)]
    assert generator.main([*arguments, "--check"]) == 1
    assert generator.main(arguments) == 0
    assert generator.main([*arguments, "--check"]) == 0
    (tmp_path / "v1alpha1/BenchmarkRun.json").write_text("{}")
    capsys.readouterr()
    assert generator.main([*arguments, "--check"]) == 1
    assert capsys.readouterr().out == f"differs: {tmp_path}/v1alpha1/BenchmarkRun.json\n"


@pytest.mark.parametrize(("kind", "version"), EVERY)
def test_schemas_are_valid_and_accept_what_the_models_accept(kind: str, version: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema(kind, version))
    validator = jsonschema.Draft202012Validator(json_schema(kind, version))
    document = make.full(kind, version)
    validator.validate(document)
    generator_ = random.Random(f"{kind} {version}")
    for _ in range(40):
        changed = mutate_tree(document, generator_)
        assert _agree(changed, validator), changed


def _agree(document: Any, validator: Any) -> bool:
    by_schema = validator.is_valid(document)
    try:
        parse(document)
    except ManifestError as error:
        rules = {problem["rule"] for problem in error.details["problems"]}
        return not by_schema or bool(rules & BEYOND_SCHEMA)
    except KernelIndexError:
        return False
    return bool(by_schema)


def test_unknown_kinds_and_versions_are_named() -> None:
    with pytest.raises(ManifestError, match="the kinds are OperationSpec, WorkloadCase"):
        json_schema("Workload")
    with pytest.raises(ManifestError, match=r"the versions are kernelindex\.dev/v1alpha1"):
        json_schema("WorkloadCase", "v1")
