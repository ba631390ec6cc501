"""Templates, compiled once: strict names, escaped values, visible characters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kernelindex.ids import short
from kernelindex.resolve import columns
from kernelindex.resolve.formulas import readable
from kernelindex.resolve.numbers import memory_text, ratio_text, significant, spaced_percent
from kernelindex.web import paths, show
from kernelindex.web.assets import asset_path
from kernelindex.web.visible import finalize, verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.web.context import Page

SITE_NAME = "KernelIndex"


@cache
def environment() -> Environment:
    """The one environment of all pages."""
    made = Environment(
        loader=PackageLoader("kernelindex.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    made.globals |= {"site_name": SITE_NAME, "asset": asset_path, "path": paths, "show": show}
    made.globals["columns"] = columns
    made.filters |= _FILTERS
    return made


_FILTERS: Mapping[str, Any] = {
    "short": short,
    "verbatim": verbatim,
    "formula": readable,
    "percent": spaced_percent,
    "ratio": ratio_text,
    "bytes": memory_text,
    "significant": significant,
}


def load_all() -> None:
    """Compile every template, ahead of the first page."""
    made = environment()
    for name in made.list_templates(extensions=["html"]):
        made.get_template(name)


def render(page: Page) -> str:
    """The HTML of a page from its context."""
    return environment().get_template(page.template).render(page=page)
