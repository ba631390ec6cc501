"""The reads of the catalog that answers are made of: the seam where tests stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kernelindex.catalog.dossier_reads import RunParts
    from kernelindex.catalog.evidence_reads import EvidenceRow
    from kernelindex.catalog.relative_reads import RelativeRow
    from kernelindex.catalog.rows import (
        CohortRow,
        EntryRow,
        ExcludedRow,
        FacetCount,
        Found,
        HardwareRow,
        OperationRow,
        Page,
        RecordRow,
        RunRow,
        SearchAnswer,
        StoredManifest,
    )
    from kernelindex.policy.facts import RunFacts


class Reads(Protocol):
    """What a catalog is asked; ``kernelindex.catalog.Catalog`` is one."""

    def find(self, ident: str, *kinds: str) -> Sequence[Found]: ...

    def manifest(self, digest: str) -> StoredManifest | None: ...

    def documents(self, digests: Iterable[str]) -> Mapping[str, dict[str, Any]]: ...

    def run(self, digest: str) -> RunRow | None: ...

    def left_out_runs(self, filters: dict[str, str] | None = None) -> Sequence[FacetCount]: ...

    def facts(self, digests: Iterable[str]) -> Mapping[str, RunFacts]: ...

    def evidence(self, run_digest: str) -> Sequence[EvidenceRow]: ...

    def held_artifacts(self, digests: Collection[str]) -> set[str]: ...

    def relatives(self, run: RunRow) -> Sequence[RelativeRow]: ...

    def hardware(self) -> Sequence[HardwareRow]: ...

    def operation(self, slug: str) -> OperationRow | None: ...

    def operation_of(self, digest: str) -> str | None: ...

    def cohorts(
        self,
        *,
        operation: str | None = None,
        shape_key: str | None = None,
        axes: Mapping[str, int] | None = None,
        product_ids: Sequence[str] = (),
        families: Sequence[str] = (),
        hardware: Sequence[str] = (),
        passes: Sequence[str] = (),
        metric: str | None = None,
        profile: str | None = None,
        limit: int = 50,
    ) -> Sequence[CohortRow]: ...

    def parts(self, run: RunRow) -> RunParts: ...

    def entries(
        self, cohort_keys: Sequence[str], *, first: int | None = None, also: Iterable[str] = ()
    ) -> Mapping[str, Sequence[EntryRow]]: ...

    def excluded(
        self,
        cohort_keys: Sequence[str] = (),
        *,
        operation: str | None = None,
        limit: int = 200,
    ) -> Sequence[ExcludedRow]: ...

    def search_text(self, query: str, limit: int = 20) -> SearchAnswer: ...

    def cohort(self, key: str) -> CohortRow | None: ...

    def runs(
        self,
        filters: dict[str, str] | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> Page[RunRow]: ...

    def records(
        self,
        filters: dict[str, str] | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> Page[RecordRow]: ...
