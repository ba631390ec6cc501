"""The comparison key, for interchange with other indexes (design, section 3).

It is stricter than a cohort: it names the exact manifests. We compute it for every run
and rank by cohort (``policy.cohorts``). Everything here reads ``spec`` objects as plain
documents, so it needs no model of a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelindex.manifests import digest_of
from kernelindex.policy.facts import Direction, Primary
from kernelindex.registry.metrics import find_metric

Spec = Mapping[str, Any]

NO_METRIC = "none"
MISSING_PRIMARY = "missing_primary_metric"
AMBIGUOUS_PRIMARY = "ambiguous_primary_metric"


@dataclass(frozen=True, slots=True)
class PrimaryProblem:
    """Why a run has no primary measurement; ``code`` is stable, ``text`` for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ComparisonKey:
    """``key`` with its two derived parts; ``metric_key`` is ``none`` where nothing passed."""

    key: str
    correctness_key: str
    metric_key: str


def direction_of(metric: str) -> Direction | None:
    """Which way is better, from the metric registry; ``None`` for an unknown metric."""
    known = find_metric(metric)
    return Direction(known.direction) if known is not None else None


def primary_measurement(
    run: Spec, protocol: Spec, workload: Spec | None = None
) -> Primary | PrimaryProblem:
    """The one number a run is judged by.

    Latency at ``timing.primaryStatistic`` in ns where ``timing`` exists, else the one
    measurement whose statistic is the protocol's primaryStatistic and, for a suite
    (``workload`` with an aggregation), whose metric and statistic are the suite's.
    """
    timing = run.get("timing")
    if timing is not None:
        return _from_timing(timing)
    wanted = protocol["measurement"]["primaryStatistic"]
    aggregation = (workload or {}).get("aggregation")
    found = [
        one
        for one in run.get("measurements") or ()
        if one["statistic"] == wanted and _fits(one, aggregation)
    ]
    if len(found) != 1:
        return _problem(found, wanted)
    return _primary(found[0]["metric"], wanted, found[0]["unit"], found[0]["value"])


def comparison_key(run: Spec, workload: Spec, protocol: Spec) -> ComparisonKey:
    """The key under which another index would compare this run.

    ``run`` names workload, protocol and environment by digest; ``workload`` is a case
    or a suite. A run that did not pass, or has no primary measurement, has metric
    ``none``.
    """
    primary = primary_measurement(run, protocol, workload)
    passed = run["status"] == "passed" and isinstance(primary, Primary)
    metric = primary.key if passed and isinstance(primary, Primary) else NO_METRIC
    correctness = correctness_key(workload)
    key = digest_of(
        {
            "v": 1,
            "operation": workload["operationSpecDigest"],
            "workload": run["workloadDigest"],
            "protocol": run["protocolDigest"],
            "environment": run["environmentDigest"],
            "correctness": correctness,
            "metric": metric,
        }
    )
    return ComparisonKey(key, correctness, metric)


def correctness_key(workload: Spec) -> str:
    """The digest of ``{"correctness": <the workload's policy>}``."""
    return digest_of({"correctness": workload["correctness"]})


def _from_timing(timing: Spec) -> Primary | PrimaryProblem:
    statistic = timing["primaryStatistic"]
    value = timing["latencyNs"].get(statistic)
    if not isinstance(value, int | float):
        return PrimaryProblem(
            MISSING_PRIMARY, f"timing names {statistic} as primary but gives no {statistic} latency"
        )
    return _primary("latency", statistic, "ns", value)


def _fits(measurement: Spec, aggregation: Spec | None) -> bool:
    if aggregation is None:
        return True
    return bool(
        measurement["metric"] == aggregation["metric"]
        and measurement["statistic"] == aggregation["statistic"]
    )


def _primary(metric: str, statistic: str, unit: str, value: float) -> Primary:
    return Primary(
        metric=metric,
        statistic=statistic,
        unit=unit,
        value=value,
        direction=direction_of(metric),
    )


def _problem(found: list[Spec], wanted: str) -> PrimaryProblem:
    if not found:
        return PrimaryProblem(MISSING_PRIMARY, f"no measurement has the statistic {wanted}")
    names = ", ".join(sorted(f"{one['metric']} in {one['unit']}" for one in found))
    return PrimaryProblem(AMBIGUOUS_PRIMARY, f"several measurements have {wanted}: {names}")
