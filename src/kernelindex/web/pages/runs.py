"""All runs, newest first, by everything they can be told apart by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.lists import ANY, list_runs
from kernelindex.resolve.withdrawn import SHOWN_STATUSES
from kernelindex.web.context import told
from kernelindex.web.gpu_names import GPU, gpu_choice
from kernelindex.web.handling import page_route
from kernelindex.web.listing import (
    RUN_ROWS,
    UNASKED,
    Asked,
    Filter,
    Option,
    RunListPage,
    choice,
    facet_options,
    left_out_fields,
    list_fields,
    read_asked,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.catalog.rows import FacetCount
    from kernelindex.resolve.dossier import RunLine

SORTS = {"newest": "newest", "oldest": "oldest"}
FACETS = {
    "pass": "timed_pass",
    "source": "source",
    "status": "status",
    "metric": "metric",
}
"""Filters with a choice, and the facet of the catalog that each is of."""
KNOWN = {"status": SHOWN_STATUSES}
"""Values that may be asked for though no run has them."""
TYPED = ("operation", "project", "implementation", "workload")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsPage(RunListPage):
    """A page of runs."""

    template: ClassVar[str] = "runs.html"

    runs: tuple[RunLine, ...] = field(metadata=told("runs in order"))
    total: int = field(metadata=told("runs in the catalog"))


def runs(catalog: Catalog, request: Request) -> RunsPage:
    """Runs by operation, GPU, pass, source, status, metric, project and implementation."""
    asked = read_asked(request, filters=(GPU, *FACETS, *TYPED), sorts=SORTS)
    facets = catalog.facets()
    total = sum(item.count for item in facets if item.facet == "status")
    filters = _filters(catalog, asked, facets, total)
    found = list_runs(
        catalog,
        cursor=asked.cursor,
        limit=RUN_ROWS,
        oldest_first=asked.sort == "oldest",
        **{FACETS.get(name, name): value for name, value in asked.values.items()},
    )
    return RunsPage(
        title="Runs",
        description=f"{total:,} benchmark runs of GPU kernels.",
        section="",
        json_path="/api/v1/runs",
        runs=found.runs,
        **left_out_fields(asked, found.left_out),
        total=total,
        **list_fields(asked, filters, found.cursor),
    )


def _filters(
    catalog: Catalog, asked: Asked, facets: Sequence[FacetCount], total: int
) -> list[Filter]:
    labels = {row.id: row.label for row in catalog.hardware()}
    gpus = facet_options(facets, "hardware", labels)
    chosen = [gpu_choice(catalog, asked, gpus)]
    for name, facet in FACETS.items():
        options = facet_options(facets, facet)
        label, known, unasked = name.capitalize(), KNOWN.get(name, ()), "any"
        if name == "status":
            options, unasked = (Option(ANY, f"any ({total:,})"), *options), UNASKED
        chosen.append(choice(asked, name, label, options, known=known, anything=unasked))
    typed = [
        words(asked, "operation", "Operation", "rms-norm"),
        words(asked, "project", "Project", "liger-kernel"),
        words(asked, "implementation", "Implementation", "slug or digest"),
    ]
    return [*typed[:1], *chosen, *typed[1:]]


routes = [page_route("/runs", runs)]
