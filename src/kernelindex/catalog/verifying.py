"""Bundles that are stored and were not verified here yet: those that an export brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from kernelindex.catalog import bulk, publishing, row_tuples
from kernelindex.catalog.approvals import cohorts_of_key
from kernelindex.catalog.rejudging import judge_again
from kernelindex.catalog.tables import truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex.catalog.database import Database
    from kernelindex.catalog.intake import EvidenceBundle, EvidenceFinding

BUNDLES, FINDINGS = truth.evidence_bundles, truth.evidence_findings


def unverified_bundles(catalog: Database) -> list[str]:
    """Digests of bundles without a finding; those of batches without runs are among them."""
    found = select(FINDINGS.c.bundle_digest).where(FINDINGS.c.bundle_digest == BUNDLES.c.digest)
    query = select(BUNDLES.c.digest).where(~found.exists()).order_by(BUNDLES.c.digest)
    with catalog.reading_long() as conn:
        return list(conn.execute(query).scalars())


def read_artifact_body(catalog: Database, digest: str) -> bytes | None:
    """The bytes of an artifact, where they are here."""
    table = truth.artifact_bodies
    with catalog.reading_long() as conn:
        query = select(table.c.body).where(table.c.digest == digest)
        return conn.execute(query).scalar_one_or_none()


def record_verification(
    catalog: Database, bundle: EvidenceBundle, findings: Sequence[EvidenceFinding]
) -> None:
    """Keep what verifying a stored bundle found, and judge again whatever its key signed.

    The bundle's row is made anew: what an export says of a bundle is not believed.
    """
    with catalog.writing() as conn:
        publishing.read_generation(conn, lock=True)
        conn.execute(delete(BUNDLES).where(BUNDLES.c.digest == bundle.digest))
        bulk.insert_rows(conn, BUNDLES, [row_tuples.bundle_row(bundle)])
        conn.execute(delete(FINDINGS).where(FINDINGS.c.bundle_digest == bundle.digest))
        bulk.insert_rows(conn, FINDINGS, [row_tuples.finding_row(one) for one in findings])
        keys = cohorts_of_key(conn, bundle.key_digest)
        judge_again(conn, keys, action="verify", detail=bundle.digest)
        publishing.raise_generation(conn)


def forget_bundle(catalog: Database, digest: str) -> None:
    """Remove a stored bundle that is none: only an export can bring one."""
    with catalog.writing() as conn:
        conn.execute(delete(BUNDLES).where(BUNDLES.c.digest == digest))
