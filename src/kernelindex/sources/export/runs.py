"""Run rows: the run with the protocol and environment it embeds, and its derived columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.catalog.intake import Correction, Observation, Row, Skipped
from kernelindex.errors import ManifestError
from kernelindex.policy.comparison import (
    ComparisonKey,
    comparison_key,
    primary_measurement,
)
from kernelindex.policy.facts import Direction, Primary
from kernelindex.sources.export.entry import SOURCE, Entry, aliases_of, refuse
from kernelindex.sources.export.ledger import RunColumns

if TYPE_CHECKING:
    from kernelindex.manifests import Manifest

__all__ = ["kernel_run", "serving_run"]

Spec = Mapping[str, Any]


def kernel_run(entry: Entry) -> Row | Skipped:
    """A BenchmarkRun, its protocol and its environment; failed runs are kept too."""
    parsed = _parse_three(entry)
    if isinstance(parsed, Skipped):
        return parsed
    protocol, environment, run = parsed
    spec = run.document["spec"]
    expected = {
        "implementationId": spec["implementationDigest"],
        "workloadId": spec["workloadDigest"],
    }
    notes = entry.differing(expected) + tuple(_column_notes(entry, protocol, environment, run))
    entry.ledger.remember(entry.row["id"], run.digest, orjson.dumps(_measured(spec)).decode())
    return _run_row(entry, (protocol, environment, run), notes)


def serving_run(entry: Entry) -> Row | Skipped:
    """A ServingRun."""
    run = entry.parse()
    if isinstance(run, Skipped):
        return run
    if run.digest != entry.row["runDigest"]:
        return _other_digest(entry, "runDigest", run)
    spec = run.document["spec"]
    expected = {
        "modelRevisionId": spec["modelDigest"],
        "configurationId": spec["configurationDigest"],
        "workloadId": spec["workloadDigest"],
    }
    entry.ledger.remember(entry.row["id"], run.digest, orjson.dumps(_measured(spec)).decode())
    return _run_row(entry, (run,), entry.differing(expected))


def _parse_three(entry: Entry) -> tuple[Manifest, Manifest, Manifest] | Skipped:
    held, row = entry.row["manifest"], entry.row
    if not all(isinstance(held.get(part), dict) for part in ("protocol", "environment", "run")):
        return refuse(entry, "bad_column", "manifest needs run, protocol and environment")
    try:
        protocol = entry.shared.parse(row["protocolKey"], held["protocol"])
        environment = entry.shared.parse(row["environmentKey"], held["environment"])
    except ManifestError as error:
        return refuse(entry, error.code, error.message)
    run = entry.parse(held["run"])
    if isinstance(run, Skipped):
        return run
    claims = {
        "runDigest": (row["runDigest"], run),
        "protocolDigest": (run.document["spec"]["protocolDigest"], protocol),
        "environmentDigest": (run.document["spec"]["environmentDigest"], environment),
    }
    for column, (claimed, manifest) in claims.items():
        if claimed != manifest.digest:
            return _other_digest(entry, column, manifest, claimed)
    return protocol, environment, run


def _other_digest(entry: Entry, column: str, manifest: Manifest, claimed: str = "") -> Skipped:
    claimed = claimed or entry.row[column]
    return refuse(entry, "digest_differs", f"{column} says {claimed}, ours is {manifest.digest}")


def _run_row(entry: Entry, manifests: tuple[Manifest, ...], notes: tuple[str, ...]) -> Row:
    run, row = manifests[-1], entry.row
    native = run.document["spec"].get("sourceNative") or {}
    stated = entry.found.get("sourceId")
    source = native.get("source") or (stated.name if stated else SOURCE)
    if stated is not None and stated.name != source:
        notes += (f"reference_differs: sourceId names {stated.name}, the manifest {source}",)
    observation = Observation(
        run_digest=run.digest,
        source=source,
        row={key: value for key, value in row.items() if key != "manifest"},
        published_at=row.get("publishedAt"),
    )
    return Row(
        where=entry.where,
        manifests=manifests,
        observation=observation,
        aliases=aliases_of(run, row["id"], native.get("externalId")),
        corrections=tuple(_corrections(entry, run)),
        notes=notes,
    )


def _corrections(entry: Entry, run: Manifest) -> Iterator[Correction]:
    row = entry.row
    if row.get("retractedAt") is not None:
        reason = row.get("retractionReason") or "retracted upstream, no reason given"
        yield Correction(action="retract", run_digest=run.digest, actor=SOURCE, reason=str(reason))
    older = entry.found.get("supersedesId")
    if older is not None:
        yield Correction(
            action="supersede",
            run_digest=older.name,
            actor=SOURCE,
            reason="superseded upstream",
            by_digest=run.digest,
        )


def _measured(spec: Spec) -> list[list[object]]:
    """``[metric, statistic, unit, value, sample count]`` for every number the run states."""
    timing = spec.get("timing") or {}
    found: list[list[object]] = [
        ["latency", statistic, "ns", value, timing.get("samples")]
        for statistic, value in timing.get("latencyNs", {}).items()
        if not isinstance(value, list)
    ]
    for one in spec.get("measurements", ()):
        found.append(
            [one["metric"], one["statistic"], one["unit"], one["value"], one.get("sampleCount")]
        )
    return found


def _column_notes(
    entry: Entry, protocol: Manifest, environment: Manifest, run: Manifest
) -> Iterator[str]:
    """A note for each derived column that our derivation contradicts."""
    spec = run.document["spec"]
    workload = entry.found["workloadId"]
    known: Spec | None = orjson.loads(workload.facts) if workload and workload.facts else None
    primary = primary_measurement(spec, protocol.document["spec"], known)
    ranked = primary if isinstance(primary, Primary) and spec["status"] == "passed" else None
    expected = _plain_columns(spec, environment.document["spec"]["hardware"], ranked)
    expected |= {"protocolKey": protocol.digest, "environmentKey": environment.digest}
    if known is not None:
        key = comparison_key(spec, known, protocol.document["spec"])
        expected |= {"comparisonKey": key.key, "correctnessKey": key.correctness_key}
        _record(entry, run, key, ranked)
    for column, ours in expected.items():
        theirs = entry.row.get(column)
        if theirs != ours:
            yield f"column_differs: {column} says {theirs}, derived {ours}"
    if not _same_instant(entry.row.get("observedAt"), spec.get("observedAt")):
        yield f"column_differs: observedAt says {entry.row.get('observedAt')}"


def _plain_columns(spec: Spec, hardware: Spec, primary: Primary | None) -> dict[str, object]:
    return {
        "status": spec["status"],
        "hardwareVendor": hardware["vendor"],
        "hardwareModel": hardware["product"],
        "hardwareArchitecture": hardware["architecture"],
        "primaryMetric": primary.metric if primary else "none",
        "primaryStatistic": primary.statistic if primary else None,
        "primaryUnit": primary.unit if primary else None,
        "primaryValue": primary.value if primary else None,
    }


def _record(entry: Entry, run: Manifest, key: ComparisonKey, primary: Primary | None) -> None:
    if primary is None:
        return
    entry.ledger.record(
        RunColumns(
            comparison_key=key.key,
            observed=str(entry.row.get("observedAt")),
            digest=run.digest,
            id=entry.row["id"],
            value=primary.value,
            lower_is_better=primary.direction is not Direction.HIGHER,
        )
    )


def _same_instant(one: object, other: object) -> bool:
    if one == other:
        return True
    try:
        return datetime.fromisoformat(str(one)) == datetime.fromisoformat(str(other))
    except (ValueError, TypeError):
        return False
