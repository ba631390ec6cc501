"""A judged batch as stable JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kernelindex.policy.verdicts import REASONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.policy.judging import ExcludedRun, JudgedEntry
    from kernelindex.policy.verdicts import Verdict
    from kernelindex.runner.standings import Judged
    from kernelindex.runner.trying import Trial


def judged_documents(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Every cohort of a batch: its setting, its entries best first, who did not rank."""
    return [_cohort(one) for one in judged]


def verdict_document(verdict: Verdict | None) -> dict[str, Any] | None:
    """A verdict with its ratio, 95 % interval, margin and reasons."""
    if verdict is None:
        return None
    return {
        "verdict": str(verdict.kind),
        "ratio": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "margin": verdict.margin,
        "reasons": [{"code": code, "text": REASONS.get(code, code)} for code in verdict.reasons],
        "settle": verdict.settle.text if verdict.settle else None,
    }


def _cohort(one: Judged) -> dict[str, Any]:
    series = one.first.series
    point, regime = series.point, series.regime
    return {
        "operation": point.operation,
        "axes": dict(point.axes),
        "dtypes": dict(point.dtypes),
        "distribution": point.distribution,
        "gradients": point.gradients,
        "pass": regime.timed_pass,
        "cache": regime.cache,
        "load": regime.load,
        "execution": regime.execution,
        "entries": [_entry(one, row) for row in one.cohort.entries],
        "excluded": [_lost(one, lost) for lost in one.cohort.excluded],
    }


def _entry(one: Judged, row: JudgedEntry) -> dict[str, Any]:
    recorded = one.runs[row.run.digest]
    spec = recorded.run.document["spec"]
    interval = row.run.interval
    return {
        "candidate": recorded.series.candidate.id,
        "title": row.run.line.title,
        "run": row.run.digest,
        "status": spec["status"],
        "rank": [row.ranked.low, row.ranked.high] if row.ranked.low is not None else None,
        "medianNs": row.entry.value,
        "interval95Ns": None if interval is None else [interval.low, interval.high],
        "samples": row.run.sample_count,
        "ratioToLeader": row.ranked.ratio_to_leader,
        "toLeader": verdict_document(row.to_leader),
        "percentOfNominalLimit": row.limit.percent_nominal if row.limit else None,
        "peakBytes": spec.get("memory", {}).get("peakBytes"),
        "doubts": [{"code": one.code, "class": one.effect, "text": one.text} for one in row.doubts],
        "correctness": spec.get("correctness"),
    }


def _lost(one: Judged, lost: ExcludedRun) -> dict[str, Any]:
    series = one.runs[lost.run.digest].series
    return {
        "candidate": series.candidate.id,
        "run": lost.run.digest,
        "status": series.status,
        "reason": series.reason or None,
        "text": str(series.found.get("text") or "") or None,
        "reasons": [{"code": reason.code, "text": reason.text} for reason in lost.reasons],
    }


def trial_document(one: Trial) -> dict[str, Any]:
    """One pass of an own kernel at one shape."""
    return {
        "axes": dict(one.axes),
        "pass": one.timed_pass,
        "load": one.load,
        "correct": one.correct,
        "settled": one.correct and not one.unsettled,
        "status": one.status,
        "reason": one.reason or None,
        "text": one.text or None,
        "wrong": [asdict(wrong) for wrong in one.wrong],
        "medianNs": one.median_ns,
        "interval95Ns": list(one.interval_ns) if one.interval_ns else None,
        "processMediansNs": list(one.process_ns),
        "percentOfNominalLimit": one.percent_of_limit,
        "peakBytes": one.peak_bytes,
        "doubts": list(one.doubts),
        "machine": {**asdict(one.surroundings), "busy": one.surroundings.busy},
        "loses": one.loses,
        "noVerdict": list(one.lost),
        "against": [
            {
                "candidate": rival.id,
                "title": rival.title,
                "medianNs": rival.median_ns,
                **(verdict_document(rival.verdict) or {}),
            }
            for rival in one.rivals
        ],
    }
