"""Intake objects as table rows, in the order of the tables' columns."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.ids import slugify
from kernelindex.manifests import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.catalog.intake import (
        Artifact,
        Correction,
        EvidenceBundle,
        EvidenceFinding,
        Observation,
        Snapshot,
    )
    from kernelindex.manifests import Manifest

UNNAMED_KINDS = frozenset({"BenchmarkRun", "ServingRun"})
"""Kinds known by digest alone: a slug for each of a million runs would serve nobody."""

WORD = re.compile(r"[a-z0-9.]+")
SERVING_RUN = "ServingRun"
SUBJECTS = ("implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest")


def text_digest(text: str | bytes) -> str:
    """``sha256:`` of bytes, or of a text's UTF-8 bytes."""
    data = text.encode() if isinstance(text, str) else text
    return "sha256:" + hashlib.sha256(data).hexdigest()


def storable(text: str) -> str:
    """A text for a column of its own; PostgreSQL holds no NUL."""
    return text.replace("\x00", "\ufffd")


def json_text(value: Any) -> str:
    """Small JSON objects of our own as text, keys sorted."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def edition_stamp(snapshot: Snapshot) -> str:
    """Orders editions of a manifest's metadata: the newest snapshot's is shown."""
    return f"{snapshot.fetched_at}|{snapshot.parser_version:06d}|{snapshot.source}"


def manifest_row(manifest: Manifest, stamp: str) -> tuple[Any, ...]:
    """The row of ``manifests``."""
    metadata = manifest.document["metadata"]
    name = metadata["name"]
    named = manifest.kind not in UNNAMED_KINDS
    return (
        manifest.digest,
        manifest.kind,
        name,
        slugify(name, manifest.kind, manifest.digest) if named else None,
        storable(metadata.get("title") or name),
        json_text(metadata),
        stamp,
    )


def snapshot_row(snapshot: Snapshot) -> tuple[Any, ...]:
    """The row of ``snapshots``."""
    return (
        snapshot.source,
        snapshot.digest,
        snapshot.parser_version,
        snapshot.name,
        snapshot.size_bytes,
        snapshot.fetched_at,
        snapshot.url,
    )


def skip_rows(snapshot: Snapshot, skipped: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """The rows of ``snapshot_skips``: how many rows were not taken, by reason."""
    named = (snapshot.source, snapshot.digest, snapshot.parser_version)
    return [(*named, reason, count) for reason, count in sorted(skipped.items())]


def observation_row(
    observation: Observation, run: Manifest | None, parser_version: int, row_text: str
) -> tuple[Any, ...]:
    """The row of ``observations``; ``row_text`` is the source's row as JSON, keys sorted."""
    row_digest = text_digest(row_text)
    bound = json_text(sorted(observation.bound))
    identity = (observation.source, observation.run_digest, row_digest, bound)
    return (
        text_digest(json_text(identity)),
        observation.source,
        observation.run_digest,
        observation_key(observation, run),
        observation.row_stamp or "",
        row_digest,
        parser_version,
        observation.published_at,
        bound,
    )


def observation_key(observation: Observation, run: Manifest | None) -> str:
    """What makes two observations the same event, told twice.

    The source's own row key where it has one; else (source, benchmark, externalId and the
    digests of implementation, workload, protocol, environment); without externalId the run.
    """
    if observation.row_key is not None:
        return text_digest(json_text(["row", observation.source, observation.row_key]))
    spec = run.document["spec"] if run is not None else {}
    native = spec.get("sourceNative", {})
    if not native.get("externalId"):
        return text_digest(json_text(["run", observation.source, observation.run_digest]))
    subjects = [spec.get(name) for name in SUBJECTS]
    if run is not None and run.kind == SERVING_RUN:
        subjects = [spec["modelDigest"], spec["configurationDigest"], spec["workloadDigest"]]
    parts = [observation.source, native.get("benchmark"), native["externalId"], *subjects]
    return text_digest(json_text(["event", *parts]))


def correction_row(correction: Correction, at: str) -> tuple[Any, ...]:
    """The row of ``corrections``; ``at`` is when it was first said, not part of its name."""
    values = (
        correction.action,
        correction.run_digest,
        correction.by_digest,
        correction.actor,
        correction.reason,
    )
    return (digest_of([*values]), *values, at)


def artifact_row(artifact: Artifact) -> tuple[Any, ...]:
    """The row of ``artifacts``."""
    values = (
        artifact.digest,
        artifact.kind,
        artifact.media_type,
        artifact.size_bytes,
        artifact.uri,
        artifact.license,
    )
    return (digest_of([*values]), *values)


def bundle_row(bundle: EvidenceBundle) -> tuple[Any, ...]:
    """The row of ``evidence_bundles``."""
    return (
        bundle.digest,
        bundle.statement_type,
        bundle.record_digest,
        bundle.key_digest,
        bundle.number,
    )


def finding_row(finding: EvidenceFinding) -> tuple[Any, ...]:
    """The row of ``evidence_findings``."""
    return (
        finding.bundle_digest,
        finding.run_digest,
        finding.key_digest,
        json_text(dict(finding.finding)),
    )
