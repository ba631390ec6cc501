"""The evidence of a controlled run as its dossier shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.resolve.dossier import Artifact, EvidenceRef

if TYPE_CHECKING:
    from kernelindex.catalog.evidence_reads import EvidenceRow
    from kernelindex.catalog.rows import RunRow
    from kernelindex.resolve.reads import Reads

    Json = dict[str, Any]

APPROVALS = {
    "approved": "approved by this index",
    "revoked": "revoked by this index",
    "other_identity": "approved for another owner or host",
    "unknown": "not approved by this index",
}
NAMED = (
    ("samples", ("samples",)),
    ("calibration", ("batch", "calibration")),
    ("telemetry", ("telemetry", "artifact")),
    ("trace", ("trace", "artifact")),
    ("logs", ("evidence", "logs")),
    ("rawSamples", ("evidence", "rawSamples")),
    ("timing.rawSamples", ("timing", "rawSamples")),
)
"""Artifacts that a run's ``spec`` may name, and where."""


def view_evidence(catalog: Reads, run: RunRow) -> tuple[EvidenceRef, ...]:
    """The bundles a run is in; only controlled runs are looked for."""
    if run.profile != "controlled":
        return ()
    return tuple(_view(row) for row in catalog.evidence(run.digest))


def view_artifacts(catalog: Reads, run: RunRow, spec: Json) -> tuple[Artifact, ...]:
    """The bodies a run names; ``held`` are those that can be had here."""
    named = [(name, _at(spec, keys)) for name, keys in NAMED]
    known = [(name, body) for name, body in named if isinstance(body, dict) and body.get("digest")]
    digests = {body["digest"] for _, body in known}
    held = catalog.held_artifacts(digests) if digests and run.profile == "controlled" else set()
    return tuple(
        Artifact(
            name=name,
            uri=body.get("uri", ""),
            digest=body["digest"],
            held=body["digest"] in held,
        )
        for name, body in known
    )


def _at(spec: Json, keys: tuple[str, ...]) -> Any:
    value: Any = spec
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _view(row: EvidenceRow) -> EvidenceRef:
    found = row.finding
    return EvidenceRef(
        bundle=row.bundle_digest,
        record=row.record_digest,
        runner=found["runner"],
        owner=found["owner"],
        host=found["host"],
        device=found["device"],
        key=found["publicKey"],
        approval=APPROVALS[row.approval],
        batch=found["number"],
        outcome=found["outcome"],
        previous=found["previous"],
        chain=_chain(row),
        within_limits=found["withinLimits"],
        correct=found["correct"],
        lacks=tuple(found["lacks"]),
        isolation=found["isolation"],
    )


def _chain(row: EvidenceRow) -> str:
    number = row.finding["number"]
    if row.follows is None:
        return "the first batch of its runner"
    if row.follows:
        return f"follows batch {number - 1}, which is here"
    return f"batch {number - 1}, which it follows, is not here"
