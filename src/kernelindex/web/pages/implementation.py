"""One implementation revision: where it is from, whether it can be used, how it ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from kernelindex.resolve.columns import show_ratios
from kernelindex.resolve.implementation_page import (
    ImplementationDossier,
    RankedRun,
    find_implementation,
    list_ranked_runs,
    show_implementation,
)
from kernelindex.resolve.lists import ASKED_STATUSES
from kernelindex.web import paths
from kernelindex.web.context import told
from kernelindex.web.facts import Fact, facts
from kernelindex.web.gpu_names import GPU, gpu_choice
from kernelindex.web.handling import page_route, redirect
from kernelindex.web.listing import (
    UNASKED,
    Option,
    RunListPage,
    choice,
    left_out_fields,
    list_fields,
    plain_options,
    read_asked,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog

ROWS = 20
PASSES = ("forward", "backward", "full", "inference", "unstated")
FACETS = {GPU: "gpu", "pass": "timed_pass", "metric": "metric", "status": "status"}
"""Filters of its runs, and what ``list_runs`` calls each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplementationPage(RunListPage):
    """Everything known of one implementation revision."""

    template: ClassVar[str] = "implementation.html"

    dossier: ImplementationDossier = field(metadata=told("source, use, and other revisions"))
    operation_title: str = field(metadata=told("title of the operation it computes"))
    revision: tuple[Fact, ...] = field(metadata=told("the project revision it is of"))
    called: tuple[Fact, ...] = field(metadata=told("what is called, and in which language"))
    support: tuple[Fact, ...] = field(metadata=told("what it says that it supports"))
    licence: tuple[Fact, ...] = field(metadata=told("licence declared and concluded"))
    source: tuple[Fact, ...] = field(metadata=told("the archived source, where there is one"))
    requirements: tuple[Fact, ...] = field(metadata=told("what its builds require, if stated"))
    links: tuple[str, ...] = field(metadata=told("addresses that its editor gave"))
    runs: tuple[RankedRun, ...] = field(metadata=told("its runs with their ranks, newest first"))
    ratios: list[str] = field(metadata=told("each run's value over its leader's, where ranked"))


def implementation(catalog: Catalog, request: Request) -> ImplementationPage | Response:
    """An implementation by slug or digest prefix; another name leads there."""
    ident = request.path_params["ident"]
    row = find_implementation(catalog, ident)
    if ident != row.slug:
        return redirect(paths.implementation(row.slug))
    asked = read_asked(request, filters=tuple(FACETS))
    dossier = show_implementation(catalog, row)
    filters = (
        gpu_choice(catalog, asked, [Option(u.hardware_id, u.hardware) for u in dossier.uses]),
        choice(asked, "pass", "Pass", plain_options(PASSES)),
        choice(asked, "metric", "Metric", plain_options(("latency", "score", "peak_memory"))),
        choice(asked, "status", "Status", plain_options(ASKED_STATUSES), anything=UNASKED),
    )
    wanted = {FACETS[name]: value for name, value in asked.values.items()}
    listed = list_ranked_runs(
        catalog, cursor=asked.cursor, limit=ROWS, implementation=row.digest, **wanted
    )
    filtered = row.run_count > ROWS or asked.values
    found = catalog.operation(row.operation)
    title = found.title if found else row.operation
    return ImplementationPage(
        title=f"{row.title}: {title}",
        description=f"{row.title} of {row.project or 'an unnamed project'}: source, licence,"
        f" whether it can be used, and {row.run_count:,} runs.",
        section="Operations",
        json_path=f"/api/v1{paths.implementation(row.slug)}",
        dossier=dossier,
        operation_title=title,
        runs=listed.runs,
        ratios=show_ratios([one.ratio if one.entries != 1 else None for one in listed.runs]),
        **_stated(dossier.spec),
        links=_links(dossier.metadata),
        **left_out_fields(asked, listed.left_out),
        **list_fields(asked, filters if filtered else (), listed.cursor),
    )


def _stated(spec: dict[str, Any]) -> dict[str, Any]:
    """What the manifest states, section by section."""
    parts = {
        "revision": spec.get("projectRevision", {}),
        "called": spec.get("callable", {}),
        "support": _told(spec.get("support", {})),
        "licence": spec.get("licensing", {}),
        "source": spec.get("source", {}),
    }
    needs = {one["name"]: one.get("requirements", {}) for one in spec.get("buildVariants", ())}
    return {name: facts(part) for name, part in parts.items()} | {"requirements": facts(needs)}


def _told(support: dict[str, Any]) -> dict[str, Any]:
    """What is said to be supported; an empty list says nothing, and not that nothing is."""
    return {name: value for name, value in support.items() if value != []}


def _links(metadata: dict[str, Any]) -> tuple[str, ...]:
    urls = (str(ref.get("url", "")) for ref in metadata.get("sourceRefs", ()))
    return tuple(url for url in urls if url.startswith("https://"))


routes = [page_route("/implementations/{ident}", implementation)]
