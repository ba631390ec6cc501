"""The first schema of the truth.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

DIGEST = sa.String(71).with_variant(sa.String(71, collation="C"), "postgresql")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make every table."""
    _create_content()
    _create_sources()
    _create_links()
    _create_evidence()
    _create_bookkeeping()
    _create_staging()
    _create_small_staging()
    _fill_state()


def _fill_state() -> None:
    state = sa.table("catalog_state", sa.column("key"), sa.column("value"))
    op.bulk_insert(state, [{"key": "generation", "value": "0"}])


def _create_content() -> None:
    op.create_table(
        "bodies",
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("body", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_bodies"),
    )
    op.create_table(
        "manifests",
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("base_slug", NAME, nullable=True),
        sa.Column("title", WORDS, nullable=False),
        sa.Column("metadata", WORDS, nullable=False),
        sa.Column("stamp", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_manifests"),
    )
    op.create_index("ix_manifests_base_slug", "manifests", ["base_slug", "kind"])
    op.create_table(
        "artifacts",
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("media_type", NAME, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("uri", WORDS, nullable=True),
        sa.Column("license", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    op.create_index("ix_artifacts_digest", "artifacts", ["digest"])
    op.create_table(
        "artifact_bodies",
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_artifact_bodies"),
    )


def _create_sources() -> None:
    op.create_table(
        "snapshots",
        sa.Column("source", NAME, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("parser_version", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("fetched_at", NAME, nullable=False),
        sa.Column("url", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("source", "digest", "parser_version", name="pk_snapshots"),
    )
    op.create_table(
        "snapshot_coverage",
        sa.Column("source", NAME, nullable=False),
        sa.Column("snapshot", DIGEST, nullable=False),
        sa.PrimaryKeyConstraint("source", "snapshot", name="pk_snapshot_coverage"),
    )
    op.create_table(
        "observations",
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.Column("run_digest", DIGEST, nullable=False),
        sa.Column("key", DIGEST, nullable=False),
        sa.Column("stamp", WORDS, nullable=False),
        sa.Column("row_digest", DIGEST, nullable=False),
        sa.Column("parser_version", sa.Integer(), nullable=False),
        sa.Column("published_at", WORDS, nullable=True),
        sa.Column("bound", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_observations"),
    )
    op.create_index("ix_observations_key", "observations", ["key"])
    op.create_index("ix_observations_run_digest", "observations", ["run_digest"])


def _create_links() -> None:
    op.create_table(
        "aliases",
        sa.Column("alias", WORDS, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.PrimaryKeyConstraint("alias", "kind", "digest", "source", name="pk_aliases"),
    )
    op.create_index("ix_aliases_digest", "aliases", ["digest"])
    op.create_table(
        "project_links",
        sa.Column("implementation_digest", DIGEST, nullable=False),
        sa.Column("project", NAME, nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.PrimaryKeyConstraint(
            "implementation_digest", "project", "source", name="pk_project_links"
        ),
    )
    op.create_table(
        "corrections",
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("action", NAME, nullable=False),
        sa.Column("run_digest", DIGEST, nullable=False),
        sa.Column("by_digest", DIGEST, nullable=True),
        sa.Column("actor", WORDS, nullable=False),
        sa.Column("reason", WORDS, nullable=False),
        sa.Column("at", NAME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_corrections"),
    )
    op.create_index("ix_corrections_run_digest", "corrections", ["run_digest"])


def _create_evidence() -> None:
    op.create_table(
        "evidence_bundles",
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("statement_type", WORDS, nullable=False),
        sa.Column("key_id", WORDS, nullable=False),
        sa.Column("received_at", NAME, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_evidence_bundles"),
    )
    op.create_table(
        "evidence_subjects",
        sa.Column("bundle_digest", DIGEST, nullable=False),
        sa.Column("subject_digest", DIGEST, nullable=False),
        sa.ForeignKeyConstraint(
            ["bundle_digest"],
            ["evidence_bundles.digest"],
            name="fk_evidence_subjects_bundle_digest",
        ),
        sa.PrimaryKeyConstraint("bundle_digest", "subject_digest", name="pk_evidence_subjects"),
    )
    op.create_index("ix_evidence_subjects_subject_digest", "evidence_subjects", ["subject_digest"])
    op.create_table(
        "community",
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("subject_digest", DIGEST, nullable=False),
        sa.Column("author", WORDS, nullable=False),
        sa.Column("created_at", NAME, nullable=False),
        sa.Column("state", NAME, nullable=False),
        sa.Column("body", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_community"),
    )
    op.create_index("ix_community_subject_digest", "community", ["subject_digest"])


def _create_bookkeeping() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("action", NAME, nullable=False),
        sa.Column("state", NAME, nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.Column("detail", WORDS, nullable=False),
        sa.Column("at", NAME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_changes"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "catalog_state",
        sa.Column("key", NAME, nullable=False),
        sa.Column("value", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_catalog_state"),
    )


def _create_staging() -> None:
    op.create_table(
        "staged_manifests",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("kind", NAME, nullable=True),
        sa.Column("name", WORDS, nullable=True),
        sa.Column("base_slug", NAME, nullable=True),
        sa.Column("title", WORDS, nullable=True),
        sa.Column("metadata", WORDS, nullable=True),
        sa.Column("stamp", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("digest", name="pk_staged_manifests"),
    )
    op.create_table(
        "staged_observations",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("source", NAME, nullable=True),
        sa.Column("run_digest", DIGEST, nullable=True),
        sa.Column("key", DIGEST, nullable=True),
        sa.Column("stamp", WORDS, nullable=True),
        sa.Column("row_digest", DIGEST, nullable=True),
        sa.Column("parser_version", sa.Integer(), nullable=True),
        sa.Column("published_at", WORDS, nullable=True),
        sa.Column("bound", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_staged_observations"),
    )
    op.create_table(
        "staged_aliases",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("alias", WORDS, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.PrimaryKeyConstraint("alias", "kind", "digest", "source", name="pk_staged_aliases"),
    )


def _create_small_staging() -> None:
    op.create_table(
        "staged_project_links",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("implementation_digest", DIGEST, nullable=False),
        sa.Column("project", NAME, nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.PrimaryKeyConstraint(
            "implementation_digest", "project", "source", name="pk_staged_project_links"
        ),
    )
    op.create_table(
        "staged_corrections",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("action", NAME, nullable=True),
        sa.Column("run_digest", DIGEST, nullable=True),
        sa.Column("by_digest", DIGEST, nullable=True),
        sa.Column("actor", WORDS, nullable=True),
        sa.Column("reason", WORDS, nullable=True),
        sa.Column("at", NAME, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_staged_corrections"),
    )
    op.create_table(
        "staged_artifacts",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("digest", DIGEST, nullable=True),
        sa.Column("kind", NAME, nullable=True),
        sa.Column("media_type", NAME, nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("uri", WORDS, nullable=True),
        sa.Column("license", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_staged_artifacts"),
    )


def downgrade() -> None:
    """Drop every table."""
    for name in TABLES:
        op.drop_table(name)


TABLES = (
    "staged_artifacts",
    "staged_corrections",
    "staged_project_links",
    "staged_aliases",
    "staged_observations",
    "staged_manifests",
    "catalog_state",
    "changes",
    "community",
    "evidence_subjects",
    "evidence_bundles",
    "corrections",
    "project_links",
    "aliases",
    "observations",
    "snapshot_coverage",
    "snapshots",
    "artifact_bodies",
    "artifacts",
    "manifests",
    "bodies",
)
