"""One judged cohort as the rows that readers get, ready to be stored as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.policy import cohorts, judge_cohort

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex.policy import JudgeContext, JudgedCohort, JudgedEntry
    from kernelindex.policy.eligibility import Exclusion
    from kernelindex.policy.facts import Doubt, RunFacts
    from kernelindex.policy.judging import Best
    from kernelindex.policy.limits import Limit
    from kernelindex.policy.records import RecordEvent
    from kernelindex.policy.verdicts import Verdict

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What an entry shows of its implementation manifest."""

    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortDocuments:
    """A cohort's rows; ``cohort`` is None where no run of it has a number at all.

    ``reasons`` has, for each run that does not rank, why.
    """

    key: str
    cohort: Json | None
    entries: tuple[Json, ...]
    events: tuple[Json, ...]
    reasons: Mapping[str, tuple[Json, ...]]


def build_documents(
    key: str, runs: Sequence[RunFacts], context: JudgeContext, shown: Mapping[str, Shown]
) -> CohortDocuments:
    """Judge all runs of one cohort and write down the result."""
    judged = judge_cohort(runs, context)
    first = next((run for run in runs if run.primary is not None), None)
    return CohortDocuments(
        key=key,
        cohort=None if first is None else _cohort_row(key, first, runs, judged),
        entries=tuple(_entry_row(key, one, shown) for one in judged.entries),
        events=_event_rows(key, runs, judged),
        reasons={
            one.run.digest: tuple(reason_json(reason) for reason in one.reasons)
            for one in judged.excluded
        },
    )


def flat_json(value: Any) -> Json:
    """A dataclass of plain values; ``asdict`` copies deeply, which took 5 % of an import."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def doubt_json(doubt: Doubt) -> Json:
    """A doubt as surfaces show it."""
    return {
        "code": doubt.code,
        "class": doubt.effect,
        "text": doubt.text,
        "shift_ns": doubt.shift_ns,
    }


def reason_json(reason: Exclusion) -> Json:
    """A reason not to rank as surfaces show it."""
    return {"code": reason.code, "text": reason.text}


def device_json(facts: RunFacts) -> Json:
    """The device class, stated parts only beside its name."""
    device = facts.device
    parts = {name: getattr(device, name) for name in cohorts.DEVICE_PARTS}
    return {
        "product_id": device.product_id,
        "label": device.label or device.product,
        "vendor": device.vendor,
        "product": device.product,
        "family": device.family,
        "architecture": device.architecture,
        **{name: value for name, value in parts.items() if value != "unstated"},
    }


def protocol_json(facts: RunFacts) -> Json:
    """Name, version and rules of the protocol's meaning."""
    protocol = facts.protocol
    return {"name": protocol.name, "version": protocol.version, "rules": dict(protocol.rules)}


def line_json(facts: RunFacts) -> Json:
    """The implementation line of a run."""
    line = facts.line
    return {
        "id": line.id,
        "title": line.title,
        "project": line.project,
        "entry_point": line.entry_point,
        "restated": line.restated,
        "restates": line.restates,
    }


def limit_json(limit: Limit | None) -> Json | None:
    """How near a run is to its device's limit, if that can be said."""
    return None if limit is None else flat_json(limit)


def verdict_json(verdict: Verdict) -> Json:
    """A verdict as surfaces show it."""
    return {
        "kind": str(verdict.kind),
        "reasons": list(verdict.reasons),
        "ratio": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "margin": verdict.margin,
        "settle": verdict.settle.text if verdict.settle else None,
    }


def shape_json(facts: RunFacts) -> Json:
    """The shape under our names."""
    shape = facts.shape
    return {
        "operation": shape.operation,
        "family": shape.family,
        "shape_key": cohorts.shape_key(shape),
        "axes": dict(shape.axes),
        "dtypes": dict(shape.dtypes),
        "distribution": shape.distribution,
    }


def observed_json(facts: RunFacts) -> Json:
    """When it was measured, as the source said it."""
    return {
        "text": facts.observed.text,
        "zone": facts.observed.zone,
        "date": facts.observed.date,
    }


def number_json(run: RunFacts) -> Json:
    """The primary value and what is known of its spread."""
    primary = run.primary
    return {
        "value": primary.value if primary else None,
        "metric": primary.metric if primary else None,
        "statistic": primary.statistic if primary else None,
        "unit": primary.unit if primary else None,
        "spread": flat_json(run.spread) if run.spread else None,
        "interval": _interval(run),
        "sample_count": run.sample_count,
    }


def _cohort_row(key: str, first: RunFacts, runs: Sequence[RunFacts], judged: JudgedCohort) -> Json:
    number = number_json(first)
    direction = first.primary.direction if first.primary else None
    return {
        "key": key,
        **shape_json(first),
        "timed_pass": str(first.timed_pass),
        "profile": str(first.protocol.profile),
        "protocol": protocol_json(first),
        "correctness": first.correctness.comparator,
        **{name: number[name] for name in ("metric", "statistic", "unit")},
        "direction": str(direction) if direction else None,
        "device": device_json(first),
        "source": min(run.source for run in runs),
        "sources": sorted({run.source for run in runs}),
        "run_count": len(runs),
        "newest_observed": max((run.observed.date or "" for run in runs), default="") or None,
        "entry_count": len(judged.entries),
        "only_result": judged.only_result,
        "unbeaten": list(judged.unbeaten),
        "shared_doubts": list(judged.shared_doubts),
        "best": {
            "reported": _best_json(judged.best_reported),
            "verified": _best_json(judged.best_verified),
            "deployable": _best_json(judged.best_deployable),
        },
        "tolerance": flat_json(judged.tolerance),
    }


def _best_json(best: Best) -> Json:
    return {"entries": list(best.keys), "only_result": best.only_result, "fills": best.fills}


def _entry_row(key: str, judged: JudgedEntry, shown: Mapping[str, Shown]) -> Json:
    ranked, run = judged.ranked, judged.run
    number = number_json(run)
    del number["metric"]
    return {
        "cohort_key": key,
        "entry_key": judged.entry.key,
        "position": ranked.position,
        "rank_low": ranked.low,
        "rank_high": ranked.high,
        "tie_group": ranked.tie_group,
        "verdict_to_leader": verdict_json(judged.to_leader) if judged.to_leader else None,
        "line": line_json(run),
        "implementation": _implementation_json(run, shown.get(run.implementation_digest)),
        "revision": judged.entry.revision,
        "stack": dict(judged.entry.stack),
        "latest_stack": judged.latest_stack,
        "run_digest": run.digest,
        "ratio_to_leader": ranked.ratio_to_leader,
        **number,
        "evidence": str(judged.level.level),
        "evidence_missing": list(judged.level.missing),
        "run_levels": {
            digest: {"level": str(report.level), "missing": list(report.missing)}
            for digest, report in judged.run_levels.items()
        },
        "doubts": [doubt_json(doubt) for doubt in judged.doubts],
        "limit": limit_json(judged.limit),
        "deployable": judged.checklist.deployable,
        "why_not": list(judged.checklist.why_not),
        "other_runs": [other.digest for other in judged.entry.others],
        "peak_memory_bytes": run.extra.get("peak_memory_bytes"),
        "memory_run": None,
        "observed": observed_json(run),
    }


def _implementation_json(run: RunFacts, known: Shown | None) -> Json:
    """``slug`` and ``title`` are filled when read: both may change without the claim."""
    return {
        "digest": run.implementation_digest,
        "slug": None,
        "title": None,
        "project": run.line.project,
        "language": known.language if known else None,
    }


def _event_rows(key: str, runs: Sequence[RunFacts], judged: JudgedCohort) -> tuple[Json, ...]:
    known = {run.digest: run for run in runs}
    rows: list[Json] = []
    leading: RecordEvent | None = None
    for ordinal, event in enumerate(judged.events, start=1):
        rows.append(_event_row(key, ordinal, event, leading, known))
        leading = event if event.leader is not None else leading
    if rows:
        rows[-1]["current"] = True
    return tuple(rows)


def _event_row(
    key: str,
    ordinal: int,
    event: RecordEvent,
    before: RecordEvent | None,
    known: Mapping[str, RunFacts],
) -> Json:
    leader, former = known.get(event.leader_run or ""), None
    if before is not None and before.leader_run is not None:
        former = known[before.leader_run]
    run = known[event.run_digest]
    value, previous = event.leader_value, before.leader_value if before else None
    return {
        "cohort_key": key,
        "ordinal": ordinal,
        "date": event.date,
        "same_day": event.same_day,
        "cause": str(event.cause),
        "run_digest": event.run_digest,
        "leader": event.leader,
        "leader_run": event.leader_run,
        "line": line_json(leader) if leader else None,
        "value": value,
        "interval": _interval(leader),
        "previous_run": former.digest if former else None,
        "previous_line": line_json(former) if former else None,
        "previous_value": previous,
        "ratio": _improvement(run, value, previous),
        "unbeaten": list(event.unbeaten),
        "current": False,
        **_where(run),
    }


def _where(run: RunFacts) -> Json:
    return {
        "metric": run.primary.metric if run.primary else None,
        "unit": run.primary.unit if run.primary else None,
        "operation": run.shape.operation,
        "shape_key": cohorts.shape_key(run.shape),
        "axes": dict(run.shape.axes),
        "dtypes": dict(run.shape.dtypes),
        "device": run.device.label or run.device.product,
        "timed_pass": str(run.timed_pass),
        "profile": str(run.protocol.profile),
        "protocol": protocol_json(run),
        "source": run.source,
    }


def _interval(run: RunFacts | None) -> Json | None:
    return flat_json(run.interval) if run and run.interval else None


def _improvement(run: RunFacts, value: float | None, previous: float | None) -> float | None:
    """How many times better than the leader before; above 1 is better."""
    if value is None or previous is None or value <= 0.0 or previous <= 0.0:
        return None
    higher = run.primary is not None and run.primary.direction == "higher"
    return value / previous if higher else previous / value
