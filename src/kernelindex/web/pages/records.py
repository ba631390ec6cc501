"""Changes of leader: all of them, and the history of one group as a staircase."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.cohort import show_cohort
from kernelindex.resolve.lists import list_records
from kernelindex.web import paths
from kernelindex.web.charts.figure import Figure, subject_figure
from kernelindex.web.context import Page, told
from kernelindex.web.gpu_names import gpu_choice
from kernelindex.web.handling import page_route
from kernelindex.web.listing import (
    RUN_ROWS,
    ListPage,
    Option,
    list_fields,
    read_asked,
    words,
)

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.answer import CohortHead
    from kernelindex.resolve.dossier import RecordLine

SORTS = {"newest": "newest", "oldest": "oldest"}
MOST_CHANGES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsPage(ListPage):
    """A page of changes of leader."""

    template: ClassVar[str] = "records.html"

    records: tuple[RecordLine, ...] = field(metadata=told("changes in order"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage(Page):
    """Every change of leader of one group."""

    template: ClassVar[str] = "history.html"

    cohort: CohortHead = field(metadata=told("the group"))
    records: tuple[RecordLine, ...] = field(metadata=told("its changes, newest first"))
    figure: Figure | None = field(metadata=told("the staircase, where there is one"))


def records(catalog: Catalog, request: Request) -> RecordsPage:
    """Changes of leader by operation and GPU."""
    asked = read_asked(request, filters=("operation", "gpu"), sorts=SORTS)
    gpus = [Option(row.id, row.label) for row in catalog.hardware()]
    filters = (
        words(asked, "operation", "Operation", "rms-norm"),
        gpu_choice(catalog, asked, gpus),
    )
    found = list_records(
        catalog,
        cursor=asked.cursor,
        limit=RUN_ROWS,
        oldest_first=asked.sort == "oldest",
        **asked.values,
    )
    return RecordsPage(
        title="Records",
        description="Every change of the implementation that leads a group alone.",
        section="Records",
        json_path="/api/v1/records",
        records=found.records,
        **list_fields(asked, filters, found.cursor),
    )


def history(catalog: Catalog, request: Request) -> HistoryPage:
    """The changes of leader of the group with this key."""
    cohort = show_cohort(catalog, request.path_params["key"], entries=1)
    found = list_records(catalog, limit=MOST_CHANGES, cohort_key=cohort.key)
    timed = "" if cohort.timed_pass == "unstated" else f", {cohort.timed_pass}"
    what = f"{cohort.operation_title or cohort.operation}{timed} on {cohort.hardware.label}"
    return HistoryPage(
        title=f"Leaders of {what} ({cohort.regime})",
        description=f"{len(found.records)} changes of leader. {cohort.summary}",
        path=paths.history(cohort.key),
        section="Records",
        cohort=cohort,
        records=found.records,
        figure=subject_figure(catalog, "records", paths.prefix(cohort.key)),
    )


routes = [page_route("/records", records), page_route("/records/{key}", history)]
