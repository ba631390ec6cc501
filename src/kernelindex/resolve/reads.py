"""The reads of the catalog that answers are made of: the seam where tests stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.catalog.rows import (
        CohortRow,
        EntryRow,
        ExcludedRow,
        Found,
        OperationRow,
        Page,
        RecordRow,
        RunRow,
        SearchAnswer,
        ShapeRow,
        StoredManifest,
    )


class Reads(Protocol):
    """What a catalog is asked; ``kernelindex.catalog.Catalog`` is one."""

    def find(self, ident: str, kind: str | None = None) -> Sequence[Found]: ...

    def manifest(self, digest: str) -> StoredManifest | None: ...

    def run(self, digest: str) -> RunRow | None: ...

    def operations(self) -> Sequence[OperationRow]: ...

    def shapes(
        self, operation: str, *, device: str | None = None, timed_pass: str | None = None
    ) -> Sequence[ShapeRow]: ...

    def cohorts(
        self,
        *,
        operation: str | None = None,
        shape_key: str | None = None,
        axes: Mapping[str, int] | None = None,
        product_ids: Sequence[str] = (),
        families: Sequence[str] = (),
        passes: Sequence[str] = (),
        metric: str | None = None,
        limit: int = 50,
    ) -> Sequence[CohortRow]: ...

    def entries(self, cohort_keys: Sequence[str]) -> Mapping[str, Sequence[EntryRow]]: ...

    def excluded(self, cohort_keys: Sequence[str]) -> Sequence[ExcludedRow]: ...

    def search_text(self, query: str, *, limit: int = 20) -> SearchAnswer: ...

    def runs(
        self,
        *,
        operation: str | None = None,
        hardware: str | None = None,
        family: str | None = None,
        source: str | None = None,
        project: str | None = None,
        implementation: str | None = None,
        workload: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[RunRow]: ...

    def records(
        self,
        *,
        operation: str | None = None,
        hardware: str | None = None,
        family: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[RecordRow]: ...
