"""Every field of these pages' contexts says what it means."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import pytest

MODULES = (
    "pages.operations",
    "pages.operation",
    "pages.implementations",
    "pages.implementation",
    "pages.projects",
    "pages.project",
    "pages.hardware",
    "pages.runs",
    "pages.sources",
    "pages.records",
    "pages.compare",
    "pages.methodology",
    "pages.api_docs",
    "listing",
    "sweeps",
    "markdown",
    "openapi",
)


@pytest.mark.parametrize("name", MODULES)
def test_fields_have_their_meaning(name: str) -> None:
    module = import_module(f"kernelindex.web.{name}")
    contexts = [
        one
        for one in vars(module).values()
        if isinstance(one, type)
        and dataclasses.is_dataclass(one)
        and one.__module__ == module.__name__
        and one.__name__ not in ("Asked", "Brief")
    ]
    assert contexts
    for context in contexts:
        for field in dataclasses.fields(context):
            assert field.metadata.get("meaning"), f"{context.__name__}.{field.name}"
