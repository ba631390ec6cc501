"""A project: its counts, and what its manifest states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from kernelindex.errors import NotFoundError
from kernelindex.resolve.answer import Part
from kernelindex.resolve.listings import ProjectLine

if TYPE_CHECKING:
    from kernelindex.catalog.catalog import Catalog
    from kernelindex.catalog.rows import ProjectRow


class ProjectDossier(Part):
    """One upstream library, author or vendor."""

    project: ProjectLine = Field(description="its names and counts")
    spec: dict[str, Any] = Field(description="what its manifest states; empty without one")
    description: str = Field("", description="what its editor says of it")
    sources: tuple[str, ...] = Field((), description="sources that told of it")


def show_project(catalog: Catalog, ident: str) -> ProjectDossier:
    """A project by slug or digest prefix.

    Raises NotFoundError ``project.not_found`` with projects of a similar name.
    """
    row = catalog.project(ident) or _by_digest(catalog, ident)
    if row is None:
        raise _not_found(catalog, ident)
    stored = catalog.manifest(row.digest) if row.digest else None
    return ProjectDossier(
        project=ProjectLine(
            slug=row.slug,
            title=row.title,
            digest=row.digest,
            implementation_count=row.implementation_count,
            run_count=row.run_count,
        ),
        spec=stored.document["spec"] if stored else {},
        description=stored.document["metadata"].get("description", "") if stored else "",
        sources=stored.sources if stored else (),
    )


def _by_digest(catalog: Catalog, ident: str) -> ProjectRow | None:
    found = catalog.find(ident, "SoftwareProject")
    return catalog.project(found[0].slug or "") if len(found) == 1 else None


def _not_found(catalog: Catalog, ident: str) -> NotFoundError:
    hits = catalog.search_text(ident.replace("-", " ")[:200], 20).hits
    near = [
        {"title": hit.title, "kind": hit.kind, "href": f"/projects/{hit.slug}"}
        for hit in hits
        if hit.kind == "project"
    ]
    return NotFoundError(
        f"no project is called {ident!r} here", code="project.not_found", matches=near[:8]
    )
