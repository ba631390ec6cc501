"""An index on the runs of staged observations, of which every batch of an import asks.

Without it each batch looked at all that the import had staged so far.

Revision ID: 0005
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NAME = "ix_staged_observations_run_digest"


def upgrade() -> None:
    """Make the index."""
    op.create_index(NAME, "staged_observations", ["run_digest"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index(NAME, "staged_observations")
