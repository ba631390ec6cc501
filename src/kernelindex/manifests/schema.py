"""JSON Schemas of the kinds, generated from the models.

``python -m kernelindex.manifests.schema --write schemas --docs docs/reference`` writes the
schemas and the field tables of the reference pages; ``--check`` says what is not current.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from kernelindex.manifests.kinds import (
    API_VERSIONS,
    KINDS,
    V1ALPHA1,
    metadata_model,
    spec_model,
)

__all__ = ["build_schema", "schema_files"]

_BASE = "https://kernelindex.dev/schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    """Schemas without the titles and null defaults that Python alone brings in."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        keys = self.generate_inner(schema["keys_schema"])
        return {
            "type": "object",
            "propertyNames": keys,
            "additionalProperties": self.generate_inner(schema["values_schema"]),
        }


@cache
def build_schema(kind: str, api_version: str = V1ALPHA1) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a whole manifest of ``kind``; treat it as read-only.

    Rules between fields that JSON Schema cannot say (an expression's axes, a real day) are
    checked by ``parse`` alone.
    """
    metadata, spec = metadata_model(), spec_model(kind, api_version)
    refs, bundle = models_json_schema(
        [(metadata, "validation"), (spec, "validation")], schema_generator=_Generator
    )
    return {
        "$schema": _DIALECT,
        "$id": f"{_BASE}/{_file_name(kind, api_version)}",
        "title": kind,
        "description": KINDS[kind].title + ".",
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {
            "apiVersion": {"const": api_version},
            "kind": {"const": kind},
            "metadata": refs[metadata, "validation"],
            "spec": refs[spec, "validation"],
        },
        "$defs": bundle["$defs"],
    }


def schema_files() -> dict[str, str]:
    """The text of every schema file by its path below ``schemas/``."""
    return {
        _file_name(kind, version): json.dumps(build_schema(kind, version), indent=2) + "\n"
        for version in API_VERSIONS
        for kind in KINDS
    }


def _file_name(kind: str, api_version: str) -> str:
    return f"{api_version.rpartition('/')[2]}/{kind}.json"


def _generated(schemas: Path | None, docs: Path | None) -> dict[Path, str]:
    from kernelindex.manifests.tables import fill_tables

    files = {} if schemas is None else {schemas / name: t for name, t in schema_files().items()}
    for version in API_VERSIONS if docs is not None else ():
        page = Path(docs or ".", f"manifests-{version.rpartition('/')[2]}.md")
        files[page] = fill_tables(page.read_text(), version)
    return files


def main(arguments: list[str] | None = None) -> int:
    """Write or check the generated files; 1 if a check finds one that is not current."""
    parser = argparse.ArgumentParser(prog="python -m kernelindex.manifests.schema")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="folder of the schemas")
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help="folder of the pages")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    options = parser.parse_args(arguments)
    stale = 0
    for path, text in _generated(options.write, options.docs).items():
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        sys.stdout.write(f"{'differs' if options.check else 'wrote'}: {path}\n")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
