"""Reads of signed evidence: who signed a run in which batch, and the bodies that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import select

from kernelindex.catalog import bulk
from kernelindex.catalog.approvals import read_approvals
from kernelindex.catalog.database import Database
from kernelindex.catalog.tables import truth

if TYPE_CHECKING:
    from collections.abc import Collection

Json = dict[str, Any]
BUNDLES, FINDINGS, ARTIFACTS = truth.evidence_bundles, truth.evidence_findings, truth.artifacts
BODIES = truth.artifact_bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """One bundle that a run is in.

    ``finding``   what verifying it found of the run: runner, owner, host, device, publicKey,
                  number, previous, record, outcome, withinLimits, isolation, correct, lacks
    ``approval``  ``approved``, ``revoked``, ``other_identity`` (approved for another owner
                  or host) or ``unknown``
    ``follows``   whether the batch before it is here: None for the first
    """

    bundle_digest: str
    record_digest: str
    finding: Json
    approval: str
    follows: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArtifact:
    """A body that is kept here, with what it is."""

    digest: str
    kind: str
    media_type: str
    body: bytes


class EvidenceReads(Database):
    """Reads evidence and artifacts."""

    def evidence(self, run_digest: str) -> tuple[EvidenceRow, ...]:
        """The bundles a run is in, as verified here, by batch number and digest."""
        query = (
            select(FINDINGS.c.bundle_digest, FINDINGS.c.finding, BUNDLES.c.record_digest)
            .join(BUNDLES, BUNDLES.c.digest == FINDINGS.c.bundle_digest)
            .where(FINDINGS.c.run_digest == run_digest)
            .order_by(BUNDLES.c.number, BUNDLES.c.digest)
        )
        with self.reading() as conn:
            rows = conn.execute(query).all()
            if not rows:
                return ()
            approvals = read_approvals(conn)
            found = []
            for row in rows:
                finding = orjson.loads(row.finding)
                before = select(BUNDLES.c.record_digest).where(
                    BUNDLES.c.key_digest == finding["key"],
                    BUNDLES.c.number == finding["number"] - 1,
                )
                records = set(conn.execute(before).scalars())
                found.append(
                    EvidenceRow(
                        bundle_digest=row.bundle_digest,
                        record_digest=row.record_digest,
                        finding=finding,
                        approval=_approval(approvals.get(finding["key"]), finding),
                        follows=finding["previous"] in records if finding["previous"] else None,
                    )
                )
        return tuple(found)

    def artifact(self, digest: str) -> StoredArtifact | None:
        """An artifact's bytes by their digest, where they are kept here."""
        query = (
            select(ARTIFACTS.c.kind, ARTIFACTS.c.media_type, BODIES.c.body)
            .join(BODIES, BODIES.c.digest == ARTIFACTS.c.digest)
            .where(ARTIFACTS.c.digest == digest)
            .order_by(ARTIFACTS.c.id)
        )
        with self.reading() as conn:
            row = conn.execute(query.limit(1)).first()
        if row is None:
            return None
        return StoredArtifact(
            digest=digest, kind=row.kind, media_type=row.media_type, body=row.body
        )

    def held_artifacts(self, digests: Collection[str]) -> set[str]:
        """Which of these artifacts' bytes are kept here."""
        with self.reading() as conn:
            held = bulk.present(conn, [BODIES.c.digest], digests)
            return bulk.present(conn, [ARTIFACTS.c.digest], held)


def _approval(approval: Any, finding: Json) -> str:
    if approval is None:
        return "unknown"
    if not approval.approved:
        return "revoked"
    same = (finding["owner"], finding["host"]) == (approval.owner, approval.host)
    return "approved" if same else "other_identity"
