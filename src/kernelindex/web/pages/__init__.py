"""The pages of the site, one module each.

How to write one, `things` for example:

    pages/things.py        @dataclass(frozen=True, slots=True, kw_only=True)
                           class ThingsPage(Page): template = "things.html"; each field has
                           a meaning: field(metadata=told("…"))
                           def things(catalog, request) -> ThingsPage
                           routes = [page_route("/things", things)]
    templates/things.html  {% extends "base.html" %} {% block main %} … {% endblock %}

The template sees ``page`` (the context), ``path`` (addresses), ``show`` (words), ``c`` (the
macros of parts/common.html: head, digest, name, pairs, ladder, doubts, limit, line, pager),
and may import ``rows`` from parts/rows.html. A builder reads query parameters with
``web.asked``, may return ``redirect(path)``, and lets NotFoundError and RequestError pass:
they become pages that help. Numbers and words come from ``resolve``; nothing is ranked,
and nothing queried that ``resolve`` or the catalog does not already answer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

MODULES = (
    "home",
    "answer",
    "run",
    "run_manifest",
    "cohort",
    "operations",
    "operation",
    "implementations",
    "implementation",
    "projects",
    "project",
    "hardware",
    "runs",
    "sources",
    "records",
    "compare",
    "methodology",
    "api_docs",
    "contribute",
    "admin",
)
__all__ = ["MODULES", "page_routes"]


def page_routes() -> list[BaseRoute]:
    """The routes of every page, in the order of ``MODULES``."""
    found: list[BaseRoute] = []
    for name in MODULES:
        found += import_module(f"{__name__}.{name}").routes
    return found
