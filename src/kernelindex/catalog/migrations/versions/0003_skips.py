"""Rows of a snapshot that were not taken, counted by reason.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

DIGEST = sa.String(71).with_variant(sa.String(71, collation="C"), "postgresql")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
KEY = ("source", "snapshot", "parser_version", "reason")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "snapshot_skips",
        sa.Column("source", NAME, nullable=False),
        sa.Column("snapshot", DIGEST, nullable=False),
        sa.Column("parser_version", sa.Integer, nullable=False),
        sa.Column("reason", NAME, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint(*KEY, name="pk_snapshot_skips"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("snapshot_skips")
