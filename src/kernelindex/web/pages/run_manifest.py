"""The manifest of a run, indented: what its page leaves out where it is long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from kernelindex.errors import NotFoundError
from kernelindex.resolve.lookup import locate
from kernelindex.web import paths
from kernelindex.web.context import Page, told
from kernelindex.web.handling import page_route
from kernelindex.web.show import document

if TYPE_CHECKING:
    from starlette.requests import Request

    from kernelindex.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestPage(Page):
    """One manifest, verbatim."""

    template: ClassVar[str] = "run_manifest.html"

    digest: str = field(metadata=told("the run's digest, which names the manifest"))
    manifest: str = field(metadata=told("the canonical manifest of the run, indented"))


def run_manifest(catalog: Catalog, request: Request) -> ManifestPage:
    """The manifest of a run by alias or digest prefix."""
    digest = locate(catalog, "run", request.path_params["ident"]).digest
    stored = catalog.manifest(digest)
    if stored is None:
        raise NotFoundError(f"{digest} is not stored", code="manifest.not_found")
    return ManifestPage(
        title=f"Manifest of run {paths.prefix(digest)}",
        path=paths.run_manifest(digest),
        json_path=f"/api/v1{paths.run_manifest(digest)}",
        indexed=False,
        digest=digest,
        manifest=document(stored.document),
    )


routes = [page_route("/runs/{ident}/manifest", run_manifest)]
