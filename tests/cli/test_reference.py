"""The reference pages are what the code says."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from kernelindex.cli.reference import ANSWERS, _models_below, pages
from tests.support.shared import CHECKOUT

MODELS = sorted(
    {inner for model, _ in ANSWERS for inner in (model, *_models_below(model))},
    key=lambda model: model.__name__,
)


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_page_is_current(name: str) -> None:
    written = (CHECKOUT / "docs" / "reference" / name).read_text()
    assert written == pages()[name], (
        "run `python -m kernelindex.cli.reference --write docs/reference`"
    )


def test_no_command_is_described_in_part() -> None:
    lines = pages()["cli.md"].splitlines()
    cut = [line for line in lines if line.startswith("  ") and line.endswith("...")]
    assert cut == []


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_described(model: type[BaseModel]) -> None:
    silent = [name for name, field in model.model_fields.items() if not field.description]
    assert silent == []
    assert model.__doc__


def test_the_keys_of_the_issue_are_there() -> None:
    page = pages()["answer.md"]
    for key in (
        "match",
        "assumptions",
        "profile",
        "ratio_to_leader",
        "percent_attainable",
        "class",
    ):
        assert f"| `{key}` |" in page
