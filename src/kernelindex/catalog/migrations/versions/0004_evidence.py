"""Bundles of evidence, what verifying them found, and the keys of runners approved here.

The tables of the first schema were never written to and are made anew.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

DIGEST = sa.String(71).with_variant(sa.String(71, collation="C"), "postgresql")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
REFUSAL = "approvals are append-only"
TABLES = (
    "runner_approvals",
    "staged_evidence_findings",
    "staged_evidence_bundles",
    "evidence_findings",
    "evidence_bundles",
)


def upgrade() -> None:
    """Make the tables, their staging twins, and the triggers."""
    op.drop_table("evidence_subjects")
    op.drop_table("evidence_bundles")
    _create_bundles()
    _create_staging()
    _create_approvals()
    if op.get_bind().dialect.name == "postgresql":
        _guard_on_postgresql()
    else:
        _guard_on_sqlite()


def downgrade() -> None:
    """Drop them, and make the empty ones of the first schema again."""
    for name in TABLES:
        op.drop_table(name)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_approval_change()")
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


def _create_bundles() -> None:
    op.create_table(
        "evidence_bundles",
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("statement_type", NAME, nullable=False),
        sa.Column("record_digest", DIGEST, nullable=False),
        sa.Column("key_digest", DIGEST, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_evidence_bundles"),
    )
    op.create_index("ix_evidence_bundles_key_digest", "evidence_bundles", ["key_digest", "number"])
    op.create_table(
        "evidence_findings",
        sa.Column("bundle_digest", DIGEST, nullable=False),
        sa.Column("run_digest", DIGEST, nullable=False),
        sa.Column("key_digest", DIGEST, nullable=False),
        sa.Column("finding", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("bundle_digest", "run_digest", name="pk_evidence_findings"),
    )
    op.create_index("ix_evidence_findings_run_digest", "evidence_findings", ["run_digest"])
    op.create_index("ix_evidence_findings_key_digest", "evidence_findings", ["key_digest"])


def _create_staging() -> None:
    op.create_table(
        "staged_evidence_bundles",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("statement_type", NAME, nullable=True),
        sa.Column("record_digest", DIGEST, nullable=True),
        sa.Column("key_digest", DIGEST, nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("digest", name="pk_staged_evidence_bundles"),
    )
    op.create_table(
        "staged_evidence_findings",
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("bundle_digest", DIGEST, nullable=False),
        sa.Column("run_digest", DIGEST, nullable=False),
        sa.Column("key_digest", DIGEST, nullable=True),
        sa.Column("finding", WORDS, nullable=True),
        sa.PrimaryKeyConstraint("bundle_digest", "run_digest", name="pk_staged_evidence_findings"),
    )


def _create_approvals() -> None:
    op.create_table(
        "runner_approvals",
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("at", NAME, nullable=False),
        sa.Column("action", NAME, nullable=False),
        sa.Column("key_digest", DIGEST, nullable=False),
        sa.Column("public_key", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("owner", WORDS, nullable=False),
        sa.Column("host", WORDS, nullable=False),
        sa.Column("actor", WORDS, nullable=False),
        sa.Column("reason", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runner_approvals"),
    )
    op.create_index("ix_runner_approvals_key_digest", "runner_approvals", ["key_digest", "at"])


def _guard_on_sqlite() -> None:
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER runner_approvals_{verb.lower()} BEFORE {verb} ON runner_approvals "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )


def _guard_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION refuse_approval_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER runner_approvals_rows BEFORE UPDATE OR DELETE ON runner_approvals "
        "FOR EACH ROW EXECUTE FUNCTION refuse_approval_change()"
    )
    op.execute(
        "CREATE TRIGGER runner_approvals_all BEFORE TRUNCATE ON runner_approvals "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_approval_change()"
    )
