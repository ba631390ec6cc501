"""Every table of the export: how its rows are read, and what they need to have been read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.sources.export import derived, objects, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.catalog.intake import Row, Skipped
    from kernelindex.sources.export.entry import Entry

__all__ = ["TABLES", "Table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table.

    ``texts`` are the columns that must hold text; ``references`` those that name a row of
    another table (null where ``optional``). A row with an unknown reference waits until the
    whole file is read, as do all rows ``at_the_end``; ``rank`` orders them then.
    """

    rank: int
    build: Callable[[Entry], Row | Skipped]
    texts: tuple[str, ...]
    references: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    manifest: bool = True
    at_the_end: bool = False


_RUN_TEXTS = ("id", "runDigest", "publishedAt")
_NUMBER_TEXTS = ("runId", "metric", "statistic", "unit")

TABLES: Mapping[str, Table] = {
    "sources": Table(rank=0, build=objects.described_source, texts=("id", "slug"), manifest=False),
    "projects": Table(rank=0, build=objects.project, texts=("id", "slug")),
    "operations": Table(rank=0, build=objects.operation, texts=("id", "slug", "semanticDigest")),
    "artifacts": Table(
        rank=0,
        build=objects.stored_artifact,
        texts=("id", "contentDigest", "kind", "mediaType"),
        manifest=False,
    ),
    "model_revisions": Table(rank=0, build=objects.model, texts=("id", "modelDigest")),
    "serving_workloads": Table(
        rank=0, build=objects.serving_workload, texts=("id", "workloadDigest")
    ),
    "operation_aliases": Table(
        rank=1,
        build=objects.operation_alias,
        texts=("alias",),
        references=("operationId",),
        manifest=False,
    ),
    "workloads": Table(
        rank=1,
        build=objects.workload,
        texts=("id", "workloadDigest"),
        references=("operationId",),
    ),
    "implementations": Table(
        rank=1,
        build=objects.implementation,
        texts=("id", "slug", "implementationDigest"),
        references=("operationId", "projectId"),
    ),
    "serving_stack_revisions": Table(rank=1, build=objects.stack, texts=("id", "stackDigest")),
    "serving_configurations": Table(
        rank=2,
        build=objects.configuration,
        texts=("id", "configurationDigest"),
        references=("stackRevisionId",),
    ),
    "benchmark_runs": Table(
        rank=3,
        build=runs.kernel_run,
        texts=(*_RUN_TEXTS, "protocolKey", "environmentKey"),
        references=("implementationId", "workloadId", "sourceId"),
        optional=("supersedesId",),
    ),
    "serving_runs": Table(
        rank=3,
        build=runs.serving_run,
        texts=_RUN_TEXTS,
        references=("modelRevisionId", "configurationId", "workloadId", "sourceId"),
        optional=("supersedesId",),
    ),
    "measurements": Table(
        rank=4,
        build=derived.measurement,
        texts=_NUMBER_TEXTS,
        references=("runId",),
        manifest=False,
    ),
    "serving_measurements": Table(
        rank=4,
        build=derived.measurement,
        texts=_NUMBER_TEXTS,
        references=("runId",),
        manifest=False,
    ),
    "record_events": Table(
        rank=5,
        build=derived.record_event,
        texts=("runId", "comparisonKey", "at"),
        manifest=False,
        at_the_end=True,
    ),
}
