"""One series of a batch as a BenchmarkRun: its numbers, what was found, and who measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex.manifests import Manifest, parse
from kernelindex.runner import batch_files
from kernelindex.runner.plan import GRADIENT_PASSES
from kernelindex.runner.recording.found import (
    build_correctness,
    build_doubts,
    build_executed,
    build_memory,
    build_telemetry,
    build_trace,
    build_traits,
)
from kernelindex.runner.recording.timing import build_timing
from kernelindex.runner.recording.workload import V2
from kernelindex.stats import median

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.runner.recording.batch import Batch, Series

STATUSES = frozenset(
    (
        *("passed", "incorrect_shape", "incorrect_dtype", "incorrect_numerical", "compile_error"),
        *("runtime_error", "timeout", "resource_exceeded", "invalid_reference"),
        *("policy_violation", "suspected_reward_hack", "incomplete_evidence"),
        *("unstable", "aborted"),
    )
)
SAMPLES_TYPE = "application/vnd.kernelindex.series+json+gzip"
TIMED = frozenset(("passed", "unstable", "aborted", "incomplete_evidence"))
"""Statuses whose samples are a time; a wrong answer's speed is nobody's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerFacts:
    """Who measured: as the run names it."""

    id: str
    owner: str = ""
    host: str = ""
    device: str = ""
    key_digest: str | None = None
    version: str = ""
    commit: str | None = None


def build_run(
    batch: Batch,
    series: Series,
    digests: Mapping[str, str],
    runner: RunnerFacts,
    previous_digest: str | None,
) -> Manifest:
    """The run of one series.

    ``digests`` names its four parts; ``previous_digest`` is the signed record of the batch
    before.
    """
    status = series.status if series.status in STATUSES else "incomplete_evidence"
    spec: dict[str, Any] = {
        **digests,
        "status": status,
        "observedAt": batch.ended_at,
        "runner": _runner(runner),
        "batch": _batch(batch, series, previous_digest),
        "samples": _samples(batch, series),
    }
    timing = build_timing(series.samples_ns) if status in TIMED else None
    parts = {
        "timing": timing,
        "correctness": build_correctness(series),
        "telemetry": build_telemetry(batch, series),
        "memory": build_memory(series),
        "traits": build_traits(series),
        "executed": build_executed(series),
        "trace": build_trace(series),
        "doubts": build_doubts(batch, series),
    }
    spec |= {name: part for name, part in parts.items() if part}
    metadata = {"name": _name(batch, series), "title": _title(series)}
    reason = _reason_text(series)
    if reason:
        metadata["description"] = reason
    return parse({"apiVersion": V2, "kind": "BenchmarkRun", "metadata": metadata, "spec": spec})


def _runner(runner: RunnerFacts) -> dict[str, Any]:
    found = {
        "id": runner.id,
        "keyDigest": runner.key_digest,
        "version": runner.version,
        "commit": runner.commit,
        "owner": runner.owner,
        "host": runner.host,
        "device": runner.device,
    }
    return {name: value for name, value in found.items() if value}


def _batch(batch: Batch, series: Series, previous_digest: str | None) -> dict[str, Any]:
    anchor = [
        one for rounds in anchor_medians(batch.calibration, series.point.id) for one in rounds
    ]
    found: dict[str, Any] = {
        "id": batch.id,
        "number": batch.plan.number,
        "previousDigest": previous_digest,
        "seedCommitment": batch.seed_commitment,
        "seed": batch.seed,
        "generations": len(series.samples_ns),
        "rounds": sum(len(generation) for generation in series.samples_ns),
        "anchorMedian": round(median(anchor)) if anchor else None,
    }
    digest = batch_files.file_digest(batch.folder / batch_files.CALIBRATION)
    if digest:
        found["calibration"] = {"uri": batch_files.CALIBRATION, "digest": digest}
    return {name: value for name, value in found.items() if value is not None}


def anchor_medians(
    calibration: Mapping[str, Any], point: str | None = None
) -> tuple[tuple[float, ...], ...]:
    """Medians of a batch's anchor, ns, generation > round: at one point where it was kept."""
    anchor = calibration.get("anchor") or {}
    stated = (anchor.get("points") or {}).get(point) or anchor.get("medians") or ()
    kept = (tuple(float(one) for one in generation if one) for generation in stated)
    return tuple(generation for generation in kept if generation)


def _samples(batch: Batch, series: Series) -> dict[str, Any]:
    name = f"{batch_files.SERIES}/{series.number}.json.gz"
    return {
        "uri": name,
        "digest": batch_files.file_digest(batch.folder / name),
        "mediaType": SAMPLES_TYPE,
        "count": series.sample_count,
    }


def _reason_text(series: Series) -> str:
    text = str(series.found.get("text") or "")
    if series.status == "passed" or not (series.reason or text):
        return ""
    return f"{series.reason}: {text}".strip(": ")[:2000]


def _name(batch: Batch, series: Series) -> str:
    regime = series.regime
    text = (
        f"{batch.plan.runner}-{batch.plan.number}-{series.number}-{series.candidate.id}"
        f"-{regime.timed_pass}-{regime.cache}-{regime.load}"
    )
    kept = "".join(one if one.isalnum() and one.isascii() else "-" for one in text.lower())
    return kept.strip("-")[:200]


def _title(series: Series) -> str:
    regime, point = series.regime, series.point
    weights = f", {point.gradients} weights" if regime.timed_pass in GRADIENT_PASSES else ""
    what = f"{series.candidate.id} · {point.id} · {regime.timed_pass}"
    return f"{what}, {regime.cache}, {regime.load}{weights}"[:200]
