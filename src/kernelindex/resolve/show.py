"""Everything known of one run, as its page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import NotFoundError
from kernelindex.registry.sources_info import find_source
from kernelindex.resolve.blocks import pass_rank
from kernelindex.resolve.dossier import (
    Identity,
    RunDossier,
    Sibling,
    SourceRef,
)
from kernelindex.resolve.evidence_view import view_artifacts, view_evidence
from kernelindex.resolve.gaps_by_axis import view_gaps
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.reruns import reruns_of
from kernelindex.resolve.run_lines import view_primary, view_shape
from kernelindex.resolve.standing import dossier_summary, view_ladder, view_standing
from kernelindex.resolve.views import (
    regime_of,
    view_doubt,
    view_hardware,
    view_implementation,
    view_limit,
    view_protocol,
    view_spread,
)
from kernelindex.resolve.withdrawn import shown_reasons, shown_status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.catalog.relative_reads import RelativeRow
    from kernelindex.catalog.rows import CohortRow, EntryRow, RunRow
    from kernelindex.resolve.reads import Reads

    Json = dict[str, Any]

FIRST_ENTRIES = 3
ATTESTATIONS = "Notes and replications by people stand beside a run; they never change its level."


def show_run(catalog: Reads, ident: str) -> RunDossier:
    """The dossier of the run that an alias or a digest prefix names.

    Raises NotFoundError ``run.not_found``, AmbiguousError ``run.ambiguous``.
    """
    found = locate(catalog, "run", ident)
    run = catalog.run(found.digest)
    if run is None:
        raise NotFoundError(
            f"run {found.digest} has no derived row; `ki catalog rebuild` makes it",
            code="run.not_derived",
        )
    return build_dossier(catalog, run)


def build_dossier(catalog: Reads, run: RunRow) -> RunDossier:
    """All parts of a run's page; about a dozen small reads."""
    parts = catalog.parts(run)
    documents = dict(parts.documents)
    spec = documents["run"]["spec"]
    relatives = catalog.relatives(run)
    entries = _entries(catalog, run, parts.cohort)
    standing = view_standing(run, parts.cohort, entries)
    entry = next((one for one in entries if one.entry_key == run.entry_key), None)
    return RunDossier(
        kind=run.kind,
        title=_title(run, spec),
        summary=dossier_summary(run, standing),
        status=shown_status(run),
        primary=view_primary(run),
        spread=view_spread(run.spread, "spread"),
        interval=view_spread(run.interval, "confidence95"),
        sample_count=run.sample_count,
        observed=run.observed,
        standing=standing,
        ladder=view_ladder(run),
        doubts=tuple(map(view_doubt, run.doubts)),
        limit=view_limit(run.limit),
        reasons=shown_reasons(run.reasons),
        superseded_by=run.superseded_by,
        retracted=run.retracted,
        operation=run.operation,
        operation_title=run.operation_title,
        shape=view_shape(run),
        timed_pass=run.timed_pass,
        profile=run.profile,
        protocol=view_protocol(run.protocol),
        regime=regime_of(run),
        hardware=view_hardware(run.device),
        implementation=view_implementation(run.implementation, run.line),
        revision=run.revision,
        stack=run.stack,
        identity=_identity(run, spec),
        source=_source(run),
        source_native=dict(spec.get("sourceNative", {})),
        correctness=_correctness(documents, spec),
        measurements=_measurements(spec),
        evidence=view_evidence(catalog, run),
        artifacts=view_artifacts(catalog, run, spec),
        peak_memory_bytes=entry.peak_memory_bytes if entry else None,
        memory_run=_memory_run(entry),
        siblings=_siblings(run, relatives),
        reruns=reruns_of(catalog, run, parts),
        gaps=view_gaps(run, relatives),
        attestations=ATTESTATIONS,
        citation=_citation(run, spec),
        more=run.operation,
        manifests=documents,
    )


def _entries(catalog: Reads, run: RunRow, cohort: CohortRow | None) -> Sequence[EntryRow]:
    """The entries of the run's cohort that its standing speaks of."""
    if cohort is None:
        return ()
    named = {*cohort.unbeaten, run.entry_key or ""}
    found = catalog.entries((cohort.key,), first=FIRST_ENTRIES, also=named)
    return found.get(cohort.key, ())


def _memory_run(entry: EntryRow | None) -> str | None:
    """The run that measured the memory of an entry: the one that stands for it, or one apart."""
    if entry is None or entry.peak_memory_bytes is None:
        return None
    return entry.memory_run or entry.run_digest


def _siblings(run: RunRow, relatives: Sequence[RelativeRow]) -> tuple[Sibling, ...]:
    """The same line and revision at the same shape in other passes of the same source."""
    return tuple(
        Sibling(
            timed_pass=row.timed_pass,
            regime=regime_of(row),
            run=entry.run_digest,
            value=entry.value,
            interval=view_spread(entry.interval, "confidence95"),
            unit=entry.unit,
        )
        for row in sorted(relatives, key=lambda row: (pass_rank(row.timed_pass), regime_of(row)))
        if row.shape_key == run.shape_key
        and row.timed_pass != run.timed_pass
        and row.source == run.source
        for entry in row.own
        if entry.revision == run.revision
    )


def _identity(run: RunRow, spec: Json) -> Identity:
    return Identity(
        run=run.digest,
        implementation=run.implementation["digest"],
        workload=run.workload_digest,
        operation=run.operation_digest,
        protocol=run.protocol_digest,
        environment=run.environment_digest,
        comparison_key=run.comparison_key,
        cohort_key=run.cohort_key,
        external_id=spec.get("sourceNative", {}).get("externalId"),
        aliases=run.aliases,
    )


def _source(run: RunRow) -> SourceRef:
    info = find_source(run.source)
    return SourceRef(
        slug=run.source,
        title=info.title if info else "",
        homepage=info.homepage if info else None,
        licence=info.licence if info else None,
        attribution=info.attribution if info else "",
        rows=run.source_rows,
        bound=run.bound,
        published_at=run.published_at,
    )


def _correctness(documents: Mapping[str, Json], spec: Json) -> Json:
    """The workload's policy beside what the run says of itself."""
    workload = documents.get("workload", {}).get("spec", {})
    return {"policy": workload.get("correctness"), "result": spec.get("correctness")}


def _measurements(spec: Json) -> tuple[Json, ...]:
    """Every number of the run: the timing's statistics, then its measurements."""
    timing = spec.get("timing", {}).get("latencyNs", {})
    timed = [
        {"metric": "latency", "statistic": name, "unit": "ns", "value": value}
        for name, value in timing.items()
    ]
    return (*timed, *spec.get("measurements", ()))


def _title(run: RunRow, spec: Json) -> str:
    """What was timed and how; a batch's number tells the runs of one kernel apart."""
    label = run.device.get("label") or run.device.get("product") or ""
    timed = "" if run.timed_pass == "unstated" else f", {run.timed_pass}"
    what = f"{run.line['title']}: {run.operation_title or run.operation}{timed} on {label}"
    number = (spec.get("batch") or {}).get("number")
    batch = f"; batch {number}" if number else ""
    return f"{what} ({regime_of(run)}{batch})"


def _citation(run: RunRow, spec: Json) -> str:
    source = find_source(run.source)
    credit = f" Data: {source.attribution}." if source and source.attribution else ""
    date = run.observed.get("date") or run.observed.get("text") or "undated"
    return f"{_title(run, spec)}, {date}. KernelIndex run {run.digest}.{credit}"
