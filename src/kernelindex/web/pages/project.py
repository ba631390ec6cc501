"""One project: who it is, and what of it was measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.resolve.browse import IMPLEMENTATION_SORTS, browse_implementations
from kernelindex.resolve.projects import ProjectDossier, show_project
from kernelindex.web import paths
from kernelindex.web.context import told
from kernelindex.web.facts import Fact, facts
from kernelindex.web.handling import page_route, redirect
from kernelindex.web.listing import ListPage, list_fields, read_asked

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.listings import ImplementationLine

ROWS = 40
SORTS = {name: name for name in IMPLEMENTATION_SORTS if name != "project"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPage(ListPage):
    """One upstream library, author or vendor."""

    template: ClassVar[str] = "project.html"

    dossier: ProjectDossier = field(metadata=told("its names and counts, and what is stated"))
    stated: tuple[Fact, ...] = field(metadata=told("repository, homepage and packages"))
    implementations: tuple[ImplementationLine, ...] = field(
        metadata=told("its implementation revisions, a page of them")
    )
    titles: dict[str, str] = field(metadata=told("title of each operation, by slug"))


def project(catalog: Catalog, request: Request) -> ProjectPage | Response:
    """A project by slug; its digest leads there."""
    ident = request.path_params["ident"]
    dossier = show_project(catalog, ident)
    slug = dossier.project.slug
    if slug != ident:
        return redirect(paths.project(slug))
    asked = read_asked(request, filters=(), sorts=SORTS)
    page = browse_implementations(
        catalog, {"project": slug}, sort=asked.sort, cursor=asked.cursor, limit=ROWS
    )
    return ProjectPage(
        title=dossier.project.title,
        description=f"{dossier.project.title}: {dossier.project.implementation_count:,}"
        f" implementations with {dossier.project.run_count:,} runs.",
        section="Operations",
        json_path=f"/api/v1{paths.project(slug)}",
        dossier=dossier,
        stated=facts(dossier.spec, without=("name",)),
        implementations=page.implementations,
        titles=catalog.operation_titles(one.operation for one in page.implementations),
        **list_fields(asked, (), page.cursor),
    )


routes = [page_route("/projects/{ident}", project)]
