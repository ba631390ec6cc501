"""Catalog rows as parts of an answer; nothing is computed that changes an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernelindex.resolve.answer import (
    Cohort,
    CohortHead,
    DoubtRef,
    Entry,
    Excluded,
    Hardware,
    ImplementationRef,
    LimitRef,
    Metric,
    Primary,
    ProtocolRef,
    Range,
    RunRef,
    ShapeRef,
    Spread,
)
from kernelindex.resolve.numbers import spaced_percent
from kernelindex.resolve.regime import Timing, regime_words
from kernelindex.resolve.withdrawn import shown_reasons
from kernelindex.resolve.wording import cohort_summary, leader_words

if TYPE_CHECKING:
    from kernelindex.catalog.relative_reads import RelativeRow
    from kernelindex.catalog.rows import CohortRow, EntryRow, ExcludedRow, RecordRow, RunRow

CONTROLLED = "controlled"
"""Profile of groups that samples tell apart, by intervals and margins."""
_DEVICE_NAMES = frozenset({"label", "product", "product_id", "family", "vendor", "architecture"})


def view_cohort(
    row: CohortRow,
    entries: Sequence[EntryRow],
    *,
    limit: int,
    rerun: str = "",
    not_met: int = 0,
) -> Cohort:
    """A cohort with its entries in stored order, at most ``limit`` of them.

    ``rerun`` is what is known of reruns in other cohorts, for the summary; ``not_met`` counts
    the entries that are not given, for they do not meet a question's conditions.
    """
    shown = entries[:limit]
    return Cohort(
        **head_fields(row, entries),
        summary=cohort_summary(row, entries, rerun),
        shared_doubts=_shared_doubts(row, entries),
        entries=tuple(view_entry(entry, row.metric) for entry in shown),
        entries_left_out=max(0, row.entry_count - not_met - len(shown)),
        entries_not_met=not_met,
    )


def view_head(row: CohortRow, entries: Sequence[EntryRow]) -> CohortHead:
    """A cohort without its entries."""
    return CohortHead(**head_fields(row, entries))


def head_fields(row: CohortRow, entries: Sequence[EntryRow]) -> dict[str, Any]:
    """The fields of a cohort's head."""
    return {
        "key": row.key,
        "operation": row.operation,
        "operation_title": row.operation_title,
        "shape": ShapeRef(
            key=row.shape_key, axes=row.axes, dtypes=row.dtypes, distribution=row.distribution
        ),
        "hardware": view_hardware(row.device),
        "timed_pass": row.timed_pass,
        "profile": row.profile,
        "protocol": view_protocol(row.protocol),
        "regime": regime_of(row),
        "correctness": row.correctness,
        "source": row.source,
        "metric": Metric(
            metric=row.metric, statistic=row.statistic, unit=row.unit, direction=row.direction
        ),
        "entry_count": row.entry_count,
        "only_result": row.only_result,
        "unbeaten": row.unbeaten,
        "newest_observed": row.newest_observed,
        "tolerance": None if row.profile == CONTROLLED else row.tolerance.get("relative"),
        "leader": leader_words(row, entries) if entries else "",
    }


def view_entry(entry: EntryRow, metric: str) -> Entry:
    """One entry; how sure its ratio is only where samples tell."""
    verdict = (entry.verdict_to_leader if entry.interval else None) or {}
    return Entry(
        key=entry.entry_key,
        position=entry.position,
        rank=_range(entry.rank_low, entry.rank_high),
        tie_group=entry.tie_group,
        verdict_to_leader=(entry.verdict_to_leader or {}).get("kind"),
        ratio_to_leader=entry.ratio_to_leader,
        ratio_low=verdict.get("low"),
        ratio_high=verdict.get("high"),
        margin=verdict.get("margin"),
        settle=verdict.get("settle"),
        implementation=view_implementation(entry.implementation, entry.line),
        revision=entry.revision,
        stack=entry.stack,
        latest_stack=entry.latest_stack,
        run=RunRef(
            digest=entry.run_digest,
            primary=Primary(
                metric=metric, statistic=entry.statistic, unit=entry.unit, value=entry.value
            ),
            spread=view_spread(entry.spread, "spread"),
            interval=view_spread(entry.interval, "confidence95"),
            sample_count=entry.sample_count,
            observed=entry.observed.get("text"),
        ),
        other_runs=entry.other_runs,
        evidence=entry.evidence,
        evidence_missing=entry.evidence_missing,
        doubts=tuple(map(view_doubt, entry.doubts)),
        limit=view_limit(entry.limit),
        deployable=entry.deployable,
        why_not=entry.why_not,
        peak_memory_bytes=entry.peak_memory_bytes,
    )


def view_hardware(device: Mapping[str, Any]) -> Hardware:
    """The device class, its unstated parts left out."""
    rest = {
        name: str(value)
        for name, value in device.items()
        if name not in _DEVICE_NAMES and value not in (None, "", "unstated")
    }
    return Hardware(
        label=str(device.get("label") or device.get("product") or "unknown device"),
        product_id=device.get("product_id"),
        family=device.get("family") or "",
        vendor=device.get("vendor") or "",
        architecture=device.get("architecture") or "",
        device_class=rest,
    )


def view_protocol(protocol: Mapping[str, Any]) -> ProtocolRef:
    """The protocol's name, version and rules."""
    return ProtocolRef(
        name=str(protocol.get("name", "")),
        version=protocol.get("version"),
        rules={str(name): str(value) for name, value in _pairs(protocol.get("rules") or {})},
    )


def regime_of(row: CohortRow | RunRow | RecordRow | RelativeRow) -> str:
    """How a group or a run was timed, in words."""
    return regime_words(row.profile, view_protocol(row.protocol))


def row_timing(row: CohortRow) -> Timing:
    """What tells a group from others of its workload, device and pass."""
    return Timing(row.profile, view_protocol(row.protocol), row.timed_pass)


def view_implementation(
    implementation: Mapping[str, Any], line: Mapping[str, Any]
) -> ImplementationRef:
    """What ran, with its line."""
    return ImplementationRef(
        slug=implementation.get("slug") or implementation["digest"],
        title=str(line.get("title") or implementation.get("title") or ""),
        line=str(line.get("id", "")),
        project=str(implementation.get("project") or line.get("project") or ""),
        digest=implementation["digest"],
        entry_point=str(line.get("entry_point", "")),
        language=implementation.get("language"),
        restated=bool(line.get("restated", False)),
    )


def view_doubt(doubt: Mapping[str, Any]) -> DoubtRef:
    """One doubt."""
    return DoubtRef(
        code=doubt["code"],
        effect=doubt["class"],
        text=spaced_percent(doubt.get("text", "")),
        shift_ns=doubt.get("shift_ns"),
    )


def view_limit(limit: Mapping[str, Any] | None) -> LimitRef | None:
    """Distance to the limit, where a cost model and peaks are known."""
    if not limit:
        return None
    return LimitRef(**{name: limit.get(name) for name in LimitRef.model_fields})


def view_spread(spread: Mapping[str, Any] | None, kind: str) -> Spread | None:
    """A spread or an interval."""
    if not spread:
        return None
    return Spread(kind=spread.get("kind", kind), low=spread["low"], high=spread["high"])


def view_excluded(row: ExcludedRow) -> Excluded:
    """A run that does not rank."""
    return Excluded(
        run=row.run_digest,
        title=row.line_title,
        cohort=row.cohort_key,
        reasons=shown_reasons(row.reasons),
    )


def _shared_doubts(row: CohortRow, entries: Sequence[EntryRow]) -> tuple[DoubtRef, ...]:
    if not entries:
        return ()
    return tuple(
        view_doubt(doubt) for doubt in entries[0].doubts if doubt["code"] in row.shared_doubts
    )


def _range(low: int | None, high: int | None) -> Range | None:
    return None if low is None or high is None else Range(low=low, high=high)


def _pairs(rules: Any) -> list[tuple[str, Any]]:
    return list(rules.items()) if isinstance(rules, Mapping) else [tuple(pair) for pair in rules]
