"""One group of comparable results: its rows, what is equal in them, and its history."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.group import show_group
from kernelindex.resolve.numbers import significant
from kernelindex.web import paths
from kernelindex.web.charts.figure import Figure, cohort_figure
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.rows import Rows, build_rows
from kernelindex.web.slots import SlotView, slots

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.answer import Cohort
    from kernelindex.resolve.group import Group

MOST_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortPage(Page):
    """Everything known of one group."""

    template: ClassVar[str] = "cohort.html"

    group: Group = field(metadata=told("the group with its bests, exclusions and records"))
    rows: Rows = field(metadata=told("its entries as a table"))
    slots: tuple[SlotView, ...] = field(metadata=told("best reported, verified, deployable"))
    margins: str = field(
        metadata=told("margins that intervals are held against; empty where none are")
    )
    figure: Figure | None = field(metadata=told("its chart, where there is something to draw"))


def cohort(catalog: Catalog, request: Request) -> CohortPage:
    """A group by 8 or more digits of its key."""
    group = show_group(catalog, request.path_params["key"])
    found = group.cohort
    timed = "" if found.timed_pass == "unstated" else f", {found.timed_pass}"
    what = f"{found.operation_title or found.operation}{timed} on {found.hardware.label}"
    return CohortPage(
        title=f"{what} ({found.regime})",
        description=found.summary,
        path=f"/cohorts/{found.key.removeprefix('sha256:')}",
        json_path=f"/api/v1/cohorts/{paths.prefix(found.key)}",
        card=paths.card("cohort", found.key),
        group=group,
        rows=build_rows(found, most=MOST_ROWS),
        slots=slots(group.best),
        margins=_margins(found),
        figure=cohort_figure(found) if found.entry_count > 1 else None,
    )


def _margins(cohort: Cohort) -> str:
    """The least and the largest margin against the leader: ``1.9 to 2.7 %``."""
    found = sorted(100 * one.margin for one in cohort.entries if one.margin is not None)
    ends = list(dict.fromkeys(significant(one, 2) for one in (*found[:1], *found[-1:])))
    return f"{' to '.join(ends)} %" if ends else ""


routes = [page_route("/cohorts/{key}", cohort)]
