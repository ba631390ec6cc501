"""All projects: libraries, authors and vendors that code is from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.browse import browse_projects
from kernelindex.web.context import told
from kernelindex.web.handling import page_route
from kernelindex.web.listing import LIST_ROWS, ListPage, list_fields, read_asked, words

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.listings import ProjectLine

SORTS = {"runs": "runs", "name": "name", "implementations": "implementations"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectsPage(ListPage):
    """A page of projects."""

    template: ClassVar[str] = "projects.html"

    projects: tuple[ProjectLine, ...] = field(metadata=told("projects in order"))
    total: int = field(metadata=told("projects in the catalog"))


def projects(catalog: Catalog, request: Request) -> ProjectsPage:
    """Projects by words."""
    asked = read_asked(request, filters=("q",), sorts=SORTS)
    rows = catalog.projects()
    found = browse_projects(
        rows, text=asked.value("q"), sort=asked.sort, cursor=asked.cursor, limit=LIST_ROWS
    )
    filters = (words(asked, "q", "Name", "liger"),)
    return ProjectsPage(
        title="Projects",
        description=f"{len(rows):,} projects whose GPU kernels were measured.",
        section="Operations",
        json_path="/api/v1/projects",
        projects=found.projects,
        total=len(rows),
        **list_fields(asked, filters, found.cursor),
    )


routes = [page_route("/projects", projects)]
