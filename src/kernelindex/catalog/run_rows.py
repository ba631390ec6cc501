"""Rows about single runs, from their facts and their standing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.catalog import facts_codec
from kernelindex.catalog.cohort_documents import (
    device_json,
    doubt_json,
    limit_json,
    line_json,
    number_json,
    observed_json,
    protocol_json,
    shape_json,
)
from kernelindex.catalog.rows import ExcludedRow, RunRow
from kernelindex.policy.doubts import doubts_of
from kernelindex.policy.judging import JudgeContext
from kernelindex.policy.levels import level_of
from kernelindex.policy.limits import limit_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.policy.facts import RunFacts

NO_CONTEXT = JudgeContext()


def excluded_row(row: Any) -> ExcludedRow:
    """A run that does not rank; ``row`` has digest, cohort_key, reasons, facts."""
    facts = facts_codec.decode(row.facts)
    return ExcludedRow(
        run_digest=row.digest,
        operation=facts.shape.operation,
        shape_key=shape_json(facts)["shape_key"],
        cohort_key=row.cohort_key,
        timed_pass=str(facts.timed_pass),
        device=facts.device.label or facts.device.product,
        implementation_digest=facts.implementation_digest,
        line_id=facts.line.id,
        line_title=facts.line.title,
        status=facts.status,
        source=facts.source,
        value=facts.primary.value if facts.primary else None,
        unit=facts.primary.unit if facts.primary else None,
        reasons=tuple(orjson.loads(row.reasons)),
        run_protocol=protocol_json(facts),
    )


def run_row(
    row: Any,
    *,
    newest: Mapping[str, str],
    entry: Mapping[str, Any] | None = None,
    told: Mapping[str, Any] | None = None,
) -> RunRow:
    """One run's row.

    ``row`` joins the run's derived row with facts and names; ``entry`` is the stored document of
    the entry it is in; ``told`` has published_at, source_rows, sources and aliases; ``newest``
    is the date of each source's newest snapshot, looked at where the run does not stand for its
    entry.
    """
    facts = facts_codec.decode(row.facts)
    product = NO_CONTEXT.product_of(facts)
    level, missing = _level(facts, entry)
    extra = {"published_at": None, "sources": (facts.source,), **(told or {})}
    return RunRow(
        **_claimed(facts),
        **_standing(row),
        operation_title=row.operation_title or row.operation,
        implementation={
            "digest": facts.implementation_digest,
            "slug": row.implementation_slug,
            "title": row.implementation_title,
        },
        rank=_rank(entry),
        evidence=level,
        evidence_missing=missing,
        doubts=_doubts(facts, entry, newest),
        limit=limit_json(limit_of(facts, product)),
        **extra,
    )


def represents(digest: str, entry: Mapping[str, Any] | None) -> bool:
    """Whether a run is the one that stands for its stored entry."""
    return entry is not None and entry["run_digest"] == digest


def _level(facts: RunFacts, entry: Mapping[str, Any] | None) -> tuple[str, tuple[str, ...]]:
    """The run's own level, as judged with the evidence it handed over, if it did."""
    judged = (entry or {}).get("run_levels", {}).get(facts.digest)
    if judged is not None:
        return judged["level"], tuple(judged["missing"])
    report = level_of(facts)
    return str(report.level), report.missing


def _claimed(facts: RunFacts) -> dict[str, Any]:
    """What the run's manifests say, under our names."""
    return {
        "digest": facts.digest,
        "status": facts.status,
        "source": facts.source,
        **shape_json(facts),
        **number_json(facts),
        "timed_pass": str(facts.timed_pass),
        "profile": str(facts.protocol.profile),
        "protocol": protocol_json(facts),
        "device": device_json(facts),
        "line": line_json(facts),
        "revision": facts.revision,
        "stack": dict(facts.stack),
        "workload_digest": facts.workload_digest,
        "operation_digest": facts.operation_digest,
        "protocol_digest": facts.protocol_digest,
        "environment_digest": facts.environment_digest,
        "observed": observed_json(facts),
        "bound": facts.bound,
    }


def _standing(row: Any) -> dict[str, Any]:
    """Where the run stands in this catalog."""
    return {
        "kind": row.kind,
        "cohort_key": row.cohort_key,
        "entry_key": row.entry_key,
        "comparison_key": row.comparison_key,
        "superseded_by": row.superseded_by,
        "retracted": row.retracted,
        "reasons": tuple(orjson.loads(row.reasons)) if row.reasons else (),
    }


def _doubts(
    facts: RunFacts, entry: Mapping[str, Any] | None, newest: Mapping[str, str]
) -> tuple[dict[str, Any], ...]:
    """The entry's, where the run stands for it; else its own."""
    if entry is not None and represents(facts.digest, entry):
        return tuple(entry["doubts"])
    product = NO_CONTEXT.product_of(facts)
    found = doubts_of(facts, product=product, newest=newest.get(facts.source))
    return tuple(doubt_json(one) for one in found)


def _rank(entry: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "low": entry["rank_low"],
        "high": entry["rank_high"],
        "position": entry["position"],
        "ratio_to_leader": entry["ratio_to_leader"],
        "representative": entry["run_digest"],
    }
