"""Tables that are the truth: migrated, exported, never rebuilt.

Most are sets: a row is named by its content, so that adding it twice, or in another
order, gives the same table. ``bodies`` is content-addressed (``sha256:`` of the text) and
written ahead of publishing; a body is visible only through a row that names it.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
)

from kernelindex.catalog.tables.types import Digest, Name, Words

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
}
metadata = MetaData(naming_convention=NAMING)

bodies = Table(
    "bodies",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("body", Words, nullable=False),
)

manifests = Table(
    "manifests",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("kind", Name, nullable=False),
    Column("name", Words, nullable=False),
    Column("base_slug", Name),
    Column("title", Words, nullable=False),
    Column("metadata", Words, nullable=False),
    Column("stamp", Words, nullable=False),
    Index("ix_manifests_base_slug", "base_slug", "kind"),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("source", Name, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("parser_version", Integer, primary_key=True, autoincrement=False),
    Column("name", Words, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("fetched_at", Name, nullable=False),
    Column("url", Words),
)

coverage = Table(
    "snapshot_coverage",
    metadata,
    Column("source", Name, primary_key=True),
    Column("snapshot", Digest, primary_key=True),
)

skips = Table(
    "snapshot_skips",
    metadata,
    Column("source", Name, primary_key=True),
    Column("snapshot", Digest, primary_key=True),
    Column("parser_version", Integer, primary_key=True, autoincrement=False),
    Column("reason", Name, primary_key=True),
    Column("count", Integer, nullable=False),
)
"""Rows of a snapshot that its reader did not take, counted under a stable reason."""

observations = Table(
    "observations",
    metadata,
    Column("id", Digest, primary_key=True),
    Column("source", Name, nullable=False),
    Column("run_digest", Digest, nullable=False),
    Column("key", Digest, nullable=False),
    Column("stamp", Words, nullable=False),
    Column("row_digest", Digest, nullable=False),
    Column("parser_version", Integer, nullable=False),
    Column("published_at", Words),
    Column("bound", Words, nullable=False),
    Index("ix_observations_run_digest", "run_digest"),
    Index("ix_observations_key", "key"),
)

aliases = Table(
    "aliases",
    metadata,
    Column("alias", Words, primary_key=True),
    Column("kind", Name, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("source", Name, primary_key=True),
    Index("ix_aliases_digest", "digest"),
)

project_links = Table(
    "project_links",
    metadata,
    Column("implementation_digest", Digest, primary_key=True),
    Column("project", Name, primary_key=True),
    Column("source", Name, primary_key=True),
)

corrections = Table(
    "corrections",
    metadata,
    Column("id", Digest, primary_key=True),
    Column("action", Name, nullable=False),
    Column("run_digest", Digest, nullable=False),
    Column("by_digest", Digest),
    Column("actor", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("at", Name, nullable=False),
    Index("ix_corrections_run_digest", "run_digest"),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("id", Digest, primary_key=True),
    Column("digest", Digest, nullable=False),
    Column("kind", Name, nullable=False),
    Column("media_type", Name, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("uri", Words),
    Column("license", Words),
    Index("ix_artifacts_digest", "digest"),
)

artifact_bodies = Table(
    "artifact_bodies",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

evidence_bundles = Table(
    "evidence_bundles",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("statement_type", Name, nullable=False),
    Column("record_digest", Digest, nullable=False),
    Column("key_digest", Digest, nullable=False),
    Column("number", Integer, nullable=False),
    Index("ix_evidence_bundles_key_digest", "key_digest", "number"),
)
"""Signed bundles by the digest of their bytes, which are an artifact's body."""

evidence_findings = Table(
    "evidence_findings",
    metadata,
    Column("bundle_digest", Digest, primary_key=True),
    Column("run_digest", Digest, primary_key=True),
    Column("key_digest", Digest, nullable=False),
    Column("finding", Words, nullable=False),
    Index("ix_evidence_findings_run_digest", "run_digest"),
    Index("ix_evidence_findings_key_digest", "key_digest"),
)
"""What verifying a bundle found of each run, here. It does not travel: whoever loads an
export verifies the bundles again."""

runner_approvals = Table(
    "runner_approvals",
    metadata,
    Column("id", Digest, primary_key=True),
    Column("at", Name, nullable=False),
    Column("action", Name, nullable=False),
    Column("key_digest", Digest, nullable=False),
    Column("public_key", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("owner", Words, nullable=False),
    Column("host", Words, nullable=False),
    Column("actor", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Index("ix_runner_approvals_key_digest", "key_digest", "at"),
)
"""Append-only, like the audit log: who approved or revoked a runner's key, when and why.
It is never exported: approval does not travel."""

community = Table(
    "community",
    metadata,
    Column("id", Digest, primary_key=True),
    Column("kind", Name, nullable=False),
    Column("subject_digest", Digest, nullable=False),
    Column("author", Words, nullable=False),
    Column("created_at", Name, nullable=False),
    Column("state", Name, nullable=False),
    Column("body", Words, nullable=False),
    Index("ix_community_subject_digest", "subject_digest"),
    Index("ix_community_state_created_at", "state", "created_at"),
    Index("ix_community_author_created_at", "author", "created_at"),
)

community_audit = Table(
    "community_audit",
    metadata,
    Column("id", Digest, primary_key=True),
    Column("at", Name, nullable=False),
    Column("actor", Words, nullable=False),
    Column("action", Name, nullable=False),
    Column("subject", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("detail", Words, nullable=False),
    Index("ix_community_audit_at", "at"),
    Index("ix_community_audit_subject", "subject"),
)
"""Append-only: a trigger of its migration refuses to change or delete a row."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Name, primary_key=True),
    Column("owner", Words, nullable=False),
    Column("scopes", Words, nullable=False),
    Column("secret_hash", Name, nullable=False),
    Column("created_at", Name, nullable=False),
    Column("expires_at", Name, nullable=False),
    Column("revoked_at", Name),
    Column("last_used_at", Name),
)

admin_sessions = Table(
    "admin_sessions",
    metadata,
    Column("token_hash", Name, primary_key=True),
    Column("key_id", ForeignKey("api_keys.id"), nullable=False),
    Column("created_at", Name, nullable=False),
    Column("expires_at", Name, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("action", Name, nullable=False),
    Column("state", Name, nullable=False),
    Column("source", Name, nullable=False),
    Column("detail", Words, nullable=False),
    Column("at", Name, nullable=False),
    sqlite_autoincrement=True,
)

state = Table(
    "catalog_state",
    metadata,
    Column("key", Name, primary_key=True),
    Column("value", Words, nullable=False),
)


def _twin(table: Table) -> Table:
    """A staging table with the same columns and primary key; an index only where one is asked."""
    columns = [Column(c.name, c.type, primary_key=c.primary_key) for c in table.columns]
    return Table(f"staged_{table.name}", metadata, Column("change_id", Integer), *columns)


PUBLISHED = (
    manifests,
    observations,
    aliases,
    project_links,
    corrections,
    artifacts,
    evidence_bundles,
    evidence_findings,
)
"""Truth that an import stages first and publishes together."""

STAGED = {table.name: _twin(table) for table in PUBLISHED}
Index("ix_staged_observations_run_digest", STAGED["observations"].c.run_digest)

EXPORTED = (
    bodies,
    manifests,
    snapshots,
    coverage,
    skips,
    observations,
    aliases,
    project_links,
    corrections,
    artifacts,
    artifact_bodies,
    evidence_bundles,
)
"""Everything an export holds; what people wrote only where asked for."""

COMMUNITY = (community, community_audit)
"""What people wrote and what became of it; keys and sessions never leave the database."""
