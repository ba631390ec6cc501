"""Every page says what each field of its context means, and has its template."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
from importlib import import_module

import pytest

from kernelindex.web import pages
from kernelindex.web.context import Page
from kernelindex.web.failures import FailurePage
from kernelindex.web.templating import environment

MODULES = [
    import_module(f"{pages.__name__}.{one.name}") for one in pkgutil.iter_modules(pages.__path__)
]


def subclasses(kind: type) -> list[type]:
    return [found for one in kind.__subclasses__() for found in (one, *subclasses(one))]


# Frozen dataclasses with slots are made twice; the first of each pair has no fields left.
PAGES = [one for one in subclasses(Page) if "__dataclass_fields__" in vars(one) and one.template]
NOT_SHOWN = {"Asked"}  # what a list was asked for, read by builders only
VIEWS = {
    found
    for module in MODULES
    for _, found in inspect.getmembers(module, inspect.isclass)
    if dataclasses.is_dataclass(found)
    and found.__module__.startswith("kernelindex.web.")
    and found.__name__ not in NOT_SHOWN
}


def test_there_are_pages() -> None:
    assert FailurePage in PAGES
    assert len(PAGES) > 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_a_page_is_described_frozen_and_has_a_template(page: type[Page]) -> None:
    assert page.__doc__
    assert not page.__doc__.startswith(f"{page.__name__}(")
    assert page.__dataclass_params__.frozen  # type: ignore[attr-defined]
    environment().get_template(page.template)


@pytest.mark.parametrize("view", sorted({*PAGES, *VIEWS}, key=str), ids=lambda view: view.__name__)
def test_every_field_says_what_it_means(view: type) -> None:
    silent = [
        one.name
        for one in dataclasses.fields(view)
        if one.metadata.get("meaning", "").strip() == ""
    ]
    assert silent == []


def test_every_module_of_pages_is_listed() -> None:
    found = {module.name for module in pkgutil.iter_modules(pages.__path__)}
    assert found == set(pages.MODULES)
