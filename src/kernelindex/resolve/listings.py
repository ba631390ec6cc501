"""Lists of what the catalog holds: operations, implementations, projects, sources."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import Field

from kernelindex.catalog import cursors
from kernelindex.errors import NotFoundError
from kernelindex.registry.sources_info import find_source, load_sources
from kernelindex.resolve.answer import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex.catalog.rows import (
        FacetCount,
        ImplementationRow,
        OperationRow,
        Page,
        ProjectRow,
        SearchAnswer,
    )
    from kernelindex.catalog.source_reads import SkipRow, SnapshotRow

Row = TypeVar("Row")


class ListReads(Protocol):
    """The reads of the catalog that lists are made of."""

    def operations(self, family: str | None = None) -> Sequence[OperationRow]: ...

    def implementations(
        self,
        *,
        operation: str | None = None,
        project: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[ImplementationRow]: ...

    def projects(self) -> Sequence[ProjectRow]: ...

    def facets(self) -> Sequence[FacetCount]: ...

    def snapshots(self) -> Sequence[SnapshotRow]: ...

    def skips(self) -> Sequence[SkipRow]: ...

    def search_text(self, query: str, limit: int = 20) -> SearchAnswer: ...


class OperationLine(Part):
    """One operation under our slug, or under its own digest where nothing is mapped."""

    slug: str = Field(description="our slug, or the digest of an operation that is not mapped")
    title: str = Field(description="its title")
    family: str = Field(description="family, such as normalization")
    mapped: bool = Field(description="whether it is an operation of our registry")
    aliases: tuple[str, ...] = Field((), description="other names that find it")
    digests: tuple[str, ...] = Field((), description="manifests that are this operation")
    run_count: int = Field(description="runs of it")
    cohort_count: int = Field(description="groups that may be compared")
    shape_count: int = Field(description="exact workloads measured")
    implementation_count: int = Field(description="implementations measured")


class OperationList(Part):
    """One page of operations."""

    operations: tuple[OperationLine, ...] = Field(description="most runs first")
    cursor: str | None = Field(None, description="asks for the next page")


class ImplementationLine(Part):
    """One implementation revision."""

    digest: str = Field(description="digest of the implementation revision")
    slug: str = Field(description="its slug")
    title: str = Field(description="its title")
    project: str = Field(description="project it belongs to")
    operation: str = Field(description="operation it computes")
    line_id: str = Field(alias="line", description="project and entry point, revision aside")
    language: str = Field(description="language of the callable")
    run_count: int = Field(description="runs of it")


class ImplementationList(Part):
    """One page of implementation revisions."""

    implementations: tuple[ImplementationLine, ...] = Field(description="ordered by digest")
    cursor: str | None = Field(None, description="asks for the next page")


class ProjectLine(Part):
    """One upstream library, author or vendor."""

    slug: str = Field(description="its slug")
    title: str = Field(description="its title")
    digest: str | None = Field(None, description="digest of its manifest, where one is stored")
    implementation_count: int = Field(description="implementation revisions of it")
    run_count: int = Field(description="runs of them")


class ProjectList(Part):
    """One page of projects."""

    projects: tuple[ProjectLine, ...] = Field(description="most runs first")
    cursor: str | None = Field(None, description="asks for the next page")


class SnapshotLine(Part):
    """One file that was read."""

    digest: str = Field(description="digest of its bytes")
    name: str = Field(description="file name")
    size_bytes: int = Field(description="size")
    fetched_at: str = Field(description="when it was read")
    parser_version: int = Field(description="version of the reader")
    url: str | None = Field(None, description="where it was fetched, if it was")
    skipped: dict[str, int] = Field(
        default_factory=dict, description="rows that were not taken, by reason"
    )


class SourceLine(Part):
    """One source of results."""

    slug: str = Field(description="its slug")
    title: str = Field(description="its name")
    homepage: str | None = Field(None, description="its address")
    licence: str | None = Field(None, description="licence of its data, where known")
    attribution: str = Field("", description="whom to credit")
    run_count: int = Field(description="runs it told of")
    freshness_days: int | None = Field(None, description="how often it is expected to publish")
    snapshots: tuple[SnapshotLine, ...] = Field((), description="files read, newest first")


class SourceList(Part):
    """Every source that is known, imported or not."""

    sources: tuple[SourceLine, ...] = Field(description="most runs first")


class Hit(Part):
    """One thing whose name matches."""

    kind: str = Field(description="operation, implementation, project or hardware")
    slug: str = Field(description="its slug or id")
    title: str = Field(description="its title")
    subtitle: str = Field("", description="what tells it from others of its name")
    score: float = Field(description="higher is better, within one search")
    run_count: int = Field(description="runs of it")


class SearchResult(Part):
    """What a text search found."""

    query: str = Field(description="the words searched for")
    hits: tuple[Hit, ...] = Field(description="best first")
    suggestions: tuple[str, ...] = Field((), description="known spellings, where nothing matches")


def search(catalog: ListReads, query: str, *, limit: int = 20) -> SearchResult:
    """Things whose names hold every word of a query."""
    found = catalog.search_text(query, limit)
    hits = tuple(Hit(**asdict(hit)) for hit in found.hits)
    return SearchResult(query=query, hits=hits, suggestions=found.suggestions)


def list_operations(
    catalog: ListReads, *, family: str | None = None, cursor: str | None = None, limit: int = 50
) -> OperationList:
    """A page of operations, those with most runs first."""
    filters = {"list": "operations", "family": family}
    rows, after = _page(catalog.operations(family), filters, cursor, limit)
    return OperationList(operations=tuple(map(view_operation, rows)), cursor=after)


def list_implementations(
    catalog: ListReads,
    *,
    operation: str | None = None,
    project: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> ImplementationList:
    """A page of implementation revisions, by digest."""
    page = catalog.implementations(operation=operation, project=project, cursor=cursor, limit=limit)
    rows = tuple(ImplementationLine(**asdict(row)) for row in page.rows)
    return ImplementationList(implementations=rows, cursor=page.cursor)


def list_projects(catalog: ListReads, *, cursor: str | None = None, limit: int = 50) -> ProjectList:
    """A page of projects, those with most runs first."""
    rows, after = _page(catalog.projects(), {"list": "projects"}, cursor, limit)
    return ProjectList(projects=tuple(ProjectLine(**asdict(row)) for row in rows), cursor=after)


def list_sources(catalog: ListReads) -> SourceList:
    """Every known source with its runs and the files that were read."""
    counts = {item.value: item.count for item in catalog.facets() if item.facet == "source"}
    snapshots, skips = catalog.snapshots(), catalog.skips()
    slugs = {*counts, *load_sources(), *(row.told for row in snapshots)}
    ordered = sorted(slugs, key=lambda slug: (-counts.get(slug, 0), slug))
    return SourceList(
        sources=tuple(_source(slug, counts.get(slug, 0), snapshots, skips) for slug in ordered)
    )


def show_source(catalog: ListReads, slug: str) -> SourceLine:
    """One source.

    Raises NotFoundError ``source.not_found``.
    """
    for source in list_sources(catalog).sources:
        if source.slug == slug:
            return source
    raise NotFoundError(f"no source is called {slug!r} here", code="source.not_found")


def view_operation(row: OperationRow) -> OperationLine:
    """An operation in a list."""
    return OperationLine(**asdict(row))


def _page(
    rows: Sequence[Row],
    filters: dict[str, Any],
    cursor: str | None,
    limit: int,
    key: Callable[[Any], tuple[Any, ...]] = lambda row: (-row.run_count, row.slug),
) -> tuple[Sequence[Row], str | None]:
    """The rows after a cursor's, in the order of ``key``; the lists here are short."""
    after = cursors.decode_cursor(filters, cursor)
    if after is not None and rows and list(map(type, after)) != list(map(type, key(rows[0]))):
        raise cursors.no_cursor()
    left = [row for row in rows if after is None or key(row) > after]
    shown = left[: cursors.check_limit(limit)]
    more = len(left) > len(shown)
    return shown, cursors.encode_cursor(filters, key(shown[-1])) if more else None


def _snapshot(row: SnapshotRow, skips: Sequence[SkipRow]) -> SnapshotLine:
    read = (row.digest, row.parser_version)
    skipped = {
        skip.reason: skip.count for skip in skips if (skip.snapshot, skip.parser_version) == read
    }
    facts = {name: value for name, value in asdict(row).items() if name != "told"}
    return SnapshotLine(**facts, skipped=skipped)


def _source(
    slug: str, runs: int, snapshots: Sequence[SnapshotRow], skips: Sequence[SkipRow]
) -> SourceLine:
    info = find_source(slug)
    lines = (_snapshot(row, skips) for row in snapshots if row.told == slug)
    return SourceLine(
        slug=slug,
        title=info.title if info else slug,
        homepage=info.homepage if info else None,
        licence=info.licence if info else None,
        attribution=info.attribution if info else "",
        run_count=runs,
        freshness_days=info.freshness_days if info else None,
        snapshots=tuple(lines),
    )
