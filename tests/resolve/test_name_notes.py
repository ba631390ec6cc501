"""Sources and frameworks that a question asks for and nothing here is called."""

from __future__ import annotations

import pytest

from kernelindex.catalog import Catalog, import_records
from kernelindex.resolve import ask_text
from tests.catalog.factories import World, make_snapshot
from tests.support.site import starter

NO_PROJECT = "No project is called {0!r} here; only implementations in a language of that name fit."
NO_SOURCE = "No known source is called {0!r}; only results of just that name fit."


def said(catalog: Catalog, words: str) -> list[str]:
    answer = ask_text(catalog, f"fused-moe {words}")
    return [one.text for one in answer.assumptions if one.code.endswith("_unknown")]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nonsense", ""),
        ("transformrs", " Was transformers meant?"),
        ("pytroch", " Was pytorch meant?"),
        ("trition", " Was triton meant?"),
        ("sonicmoe", " Was sonic-moe meant?"),
        ("torch", ""),
    ],
)
def test_a_framework_that_no_project_is_called_is_said(name: str, meant: str) -> None:
    assert said(starter(), f"framework:{name}") == [NO_PROJECT.format(name) + meant]


@pytest.mark.parametrize("name", ["liger", "hf", "Sonic-MoE", "triton", "cuda"])
def test_a_framework_that_is_known_is_taken_as_it_is(name: str) -> None:
    assert said(starter(), f"framework:{name}") == []


def test_a_source_that_nothing_is_of_is_said() -> None:
    (text,) = said(starter(), "source:kernelindex-runer")
    assert text == NO_SOURCE.format("kernelindex-runer") + " Was kernelindex-runner meant?"


def test_a_source_of_ones_own_is_known(sqlite_url: str) -> None:
    with Catalog.open(sqlite_url) as catalog:
        import_records(catalog, make_snapshot(), [World().row("a", 1000, source="in-house")])
        assert said(catalog, "source:in-house") == []
        assert len(said(catalog, "source:in-hose")) == 1
