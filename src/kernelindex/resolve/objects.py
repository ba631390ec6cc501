"""Everything known of an operation, implementation, workload or other object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import NotFoundError
from kernelindex.manifests import parse, references
from kernelindex.registry.operations import named_operation
from kernelindex.resolve.dossier import Link, ObjectDossier
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.run_lines import view_run_line
from kernelindex.resolve.show import show_run
from kernelindex.resolve.views import view_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.rows import CohortRow, OperationRow, StoredManifest
    from kernelindex.resolve.answer import CohortHead
    from kernelindex.resolve.dossier import RunDossier, RunLine
    from kernelindex.resolve.reads import Reads

BENCHMARK_RUN = "BenchmarkRun"
MAX_COHORTS = 20
MAX_RUNS = 20
RUN_FILTERS = {"implementation": "implementation", "workload": "workload"}


def show(catalog: Reads, word: str, ident: str) -> RunDossier | ObjectDossier:
    """The dossier of any object: of a benchmark run its own kind, else the plain one.

    Raises NotFoundError ``<word>.not_found``, AmbiguousError ``<word>.ambiguous``.
    """
    if word == "run" and locate(catalog, word, ident).kind == BENCHMARK_RUN:
        return show_run(catalog, ident)
    return show_object(catalog, word, ident)


def show_object(catalog: Reads, word: str, ident: str) -> ObjectDossier:
    """The dossier of an object that is not a run.

    Raises NotFoundError ``<word>.not_found``, AmbiguousError ``<word>.ambiguous``.
    """
    if word == "operation":
        row = operation_row(catalog, ident)
        if row is not None:
            return _operation(catalog, row)
    found = locate(catalog, word, ident)
    stored = catalog.manifest(found.digest)
    if stored is None:
        raise NotFoundError(f"{found.digest} is named but not stored", code=f"{word}.not_stored")
    return ObjectDossier(
        kind=stored.kind,
        digest=stored.digest,
        slug=stored.slug,
        title=stored.title,
        aliases=stored.aliases,
        sources=stored.sources,
        links=_links(stored),
        runs=_runs(catalog, word, stored.digest),
        manifest=stored.document,
    )


def operation_row(catalog: Reads, ident: str) -> OperationRow | None:
    """An operation by our slug or alias, else by one of its digests."""
    match = named_operation(ident)
    row = catalog.operation(match.slug if match else ident)
    if row is not None or match is not None:
        return row
    found = catalog.find(ident, "OperationSpec")
    slug = catalog.operation_of(found[0].digest) if len(found) == 1 else None
    return catalog.operation(slug) if slug else None


def _operation(catalog: Reads, row: OperationRow) -> ObjectDossier:
    cohorts = catalog.cohorts(operation=row.slug, limit=MAX_COHORTS)
    stored = catalog.manifest(row.digests[0]) if row.digests else None
    return ObjectDossier(
        kind="OperationSpec",
        digest=row.digests[0] if len(row.digests) == 1 else None,
        slug=row.slug,
        title=row.title,
        facts=_operation_facts(row),
        aliases=row.aliases,
        sources=stored.sources if stored else (),
        cohorts=_heads(catalog, cohorts),
        manifest=stored.document if stored else None,
    )


def _operation_facts(row: OperationRow) -> dict[str, str]:
    facts = {
        "family": row.family,
        "runs": str(row.run_count),
        "implementations": str(row.implementation_count),
        "shapes": str(row.shape_count),
        "groups": str(row.cohort_count),
        "manifests": ", ".join(row.digests),
    }
    ours = named_operation(row.slug)
    if ours is not None:
        facts["axes"] = ", ".join(_axis(axis) for axis in ours.axes)
        facts["computes"] = ours.expression
    return facts


def _axis(axis: Any) -> str:
    return f"{axis.name} ({', '.join(axis.aliases)})" if axis.aliases else str(axis.name)


def _heads(catalog: Reads, cohorts: Sequence[CohortRow]) -> tuple[CohortHead, ...]:
    entries = catalog.entries(tuple(row.key for row in cohorts)) if cohorts else {}
    return tuple(view_head(row, entries.get(row.key, ())) for row in cohorts)


def _links(stored: StoredManifest) -> tuple[Link, ...]:
    found = references(parse(stored.document))
    return tuple(Link(path=item.path, kind=item.kind, digest=item.digest) for item in found)


def _runs(catalog: Reads, word: str, digest: str) -> tuple[RunLine, ...]:
    """Some runs of an implementation or a workload, newest first."""
    if word not in RUN_FILTERS:
        return ()
    page = catalog.runs({RUN_FILTERS[word]: digest}, limit=MAX_RUNS)
    return tuple(map(view_run_line, page.rows))
