"""An implementation: its source, licence, install, what it lacks to be used, and its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from kernelindex.errors import NotFoundError
from kernelindex.policy.deployability import checklist, is_in_script
from kernelindex.resolve.answer import Part
from kernelindex.resolve.dossier import RunLine, StatusCount  # noqa: TC001 (pydantic reads them)
from kernelindex.resolve.licence_review import LicenceReview, review_licence
from kernelindex.resolve.listings import ImplementationLine
from kernelindex.resolve.lists import read_runs
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.recipes import import_line, usage_of
from kernelindex.resolve.run_lines import represented_by, view_run_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.catalog.rows import ImplementationRow, RunRow

NOT_ASSERTED = "CORRECTNESS_NOT_ASSERTED"
MOST_DEVICES = 8
MOST_REVISIONS = 20


class CheckItem(Part):
    """One requirement of use."""

    label: str = Field(description="the requirement in words")
    met: bool = Field(description="whether it is met")
    text: str = Field(description="what was found, or why not")


class DeviceUse(Part):
    """Whether it can be used on one GPU it ran on."""

    hardware_id: str = Field(description="hardware id")
    hardware: str = Field(description="name of the GPU")
    architecture: str = Field(description="architecture id")
    runs: int = Field(description="runs on it")
    items: tuple[CheckItem, ...] = Field(description="requirements in order")
    deployable: bool = Field(description="whether all are met")
    why_not: tuple[str, ...] = Field((), description="the unmet ones in words")


class RankedRun(Part):
    """One run with the size of its group."""

    run: RunLine = Field(description="the run")
    cohort: str | None = Field(None, description="key of its group")
    entries: int | None = Field(None, description="entries of its group")
    ratio: float | None = Field(None, description="its value over the leader's, where ranked")
    represented_by: str | None = Field(
        None, description="run that stands for its entry, where it is another one"
    )


class RankedRuns(Part):
    """A page of an implementation's runs."""

    runs: tuple[RankedRun, ...] = Field(description="runs, newest first")
    cursor: str | None = Field(None, description="asks for the next page")
    left_out: tuple[StatusCount, ...] = Field((), description="runs not listed unless asked for")


class ImplementationDossier(Part):
    """Everything about an implementation but its runs."""

    implementation: ImplementationLine = Field(description="its names and counts")
    spec: dict[str, Any] = Field(description="what its manifest claims")
    metadata: dict[str, Any] = Field(description="what its editor says")
    install: str | None = Field(None, description="the line that installs it, if stated")
    imports: str | None = Field(None, description="the line that imports it, if stated")
    gap: str = Field("", description="why nothing installs it, where nothing does")
    restated: bool = Field(False, description="a copy of another project's code, not a release")
    in_script: bool = Field(False, description="a copy that lies in no package")
    restates: str = Field("", description="whose code it is a copy of")
    uses: tuple[DeviceUse, ...] = Field((), description="deployability on each GPU it ran on")
    review: LicenceReview | None = Field(None, description="licence concluded by the registry")
    revisions: tuple[ImplementationLine, ...] = Field((), description="others of the same line")
    sources: tuple[str, ...] = Field((), description="sources that told of it")


def find_implementation(catalog: Catalog, ident: str) -> ImplementationRow:
    """The implementation that a slug, alias or digest prefix names.

    Raises NotFoundError ``implementation.not_found`` with similar names, AmbiguousError.
    """
    try:
        digest = locate(catalog, "implementation", ident).digest
    except NotFoundError as error:
        hits = catalog.search_text(ident.replace("-", " ")[:200], 8).hits
        near = [
            {"title": hit.title, "kind": hit.kind, "href": f"/implementations/{hit.slug}"}
            for hit in hits
            if hit.kind == "implementation"
        ]
        raise NotFoundError(error.message, code=error.code, matches=near) from error
    row = catalog.implementation(digest)
    if row is None:
        raise NotFoundError(f"{digest} is not listed yet", code="implementation.not_derived")
    return row


def show_implementation(catalog: Catalog, row: ImplementationRow) -> ImplementationDossier:
    """The dossier of an implementation."""
    stored = catalog.manifest(row.digest)
    document: dict[str, Any] = stored.document if stored else {"spec": {}, "metadata": {}}
    spec = document["spec"]
    newest = _newest_by_device(catalog, row.digest)
    line = newest[0][1].line if newest else {}
    restated = bool(line.get("restated"))
    usage, in_script = usage_of(spec, restated=restated), is_in_script(spec, restated=restated)
    others = catalog.implementation_page({"line": row.line_id}, limit=MOST_REVISIONS).rows
    return ImplementationDossier(
        implementation=_line(row),
        spec=spec,
        metadata=document["metadata"],
        install=usage.install,
        imports=None if in_script else import_line(spec),
        gap=usage.gap,
        restated=restated,
        in_script=in_script,
        restates=str(line.get("restates") or ""),
        uses=tuple(_use(*one, spec) for one in newest) if spec else (),
        review=review_licence(spec) if spec else None,
        revisions=tuple(_line(one) for one in others if one.digest != row.digest),
        sources=stored.sources if stored else (),
    )


def list_ranked_runs(
    catalog: Catalog, *, cursor: str | None, limit: int, **filters: str | None
) -> RankedRuns:
    """A page of runs, each with the size of its group and its ratio to the leader.

    Filters, what is left out and what is raised are those of ``lists.list_runs``.
    """
    page, left_out = read_runs(catalog, filters, cursor=cursor, limit=limit)
    keys = {row.cohort_key for row in page.rows if row.cohort_key}
    counts = catalog.entry_counts(sorted(keys)) if keys else {}
    runs = tuple(_ranked(row, counts) for row in page.rows)
    return RankedRuns(runs=runs, cursor=page.cursor, left_out=left_out)


def _newest_by_device(catalog: Catalog, digest: str) -> list[tuple[str, RunRow, int]]:
    """Each GPU's id, the newest run on it, and how many there are."""
    found = []
    for hardware, count in list(catalog.implementation_devices(digest).items())[:MOST_DEVICES]:
        filters = {"implementation": digest, "hardware": hardware}
        rows = catalog.runs(filters, limit=1).rows
        found += [(hardware, row, count) for row in rows]
    return found


def _use(hardware: str, run: RunRow, count: int, spec: dict[str, Any]) -> DeviceUse:
    found = checklist(
        spec,
        architecture=str(run.device.get("architecture") or ""),
        restated=bool(run.line.get("restated")),
        checked=all(doubt["code"] != NOT_ASSERTED for doubt in run.doubts),
    )
    label = str(run.device.get("label") or run.device.get("product") or "")
    return DeviceUse(
        hardware_id=hardware,
        hardware=label,
        architecture=str(run.device.get("architecture") or ""),
        runs=count,
        items=tuple(_items(found.items)),
        deployable=found.deployable,
        why_not=found.why_not,
    )


def _items(items: Iterable[Any]) -> Iterable[CheckItem]:
    return (CheckItem(label=item.label, met=item.met, text=item.text) for item in items)


def _ranked(row: RunRow, counts: dict[str, int]) -> RankedRun:
    rank, by_another = row.rank or {}, represented_by(row)
    return RankedRun(
        run=view_run_line(row),
        cohort=row.cohort_key,
        entries=counts.get(row.cohort_key or "") if rank else None,
        ratio=None if by_another else rank.get("ratio_to_leader"),
        represented_by=by_another,
    )


def _line(row: ImplementationRow) -> ImplementationLine:
    names = ("digest", "slug", "title", "project", "operation", "language", "run_count")
    return ImplementationLine(**{name: getattr(row, name) for name in names}, line_id=row.line_id)
