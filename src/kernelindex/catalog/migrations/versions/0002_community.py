"""Keys, sessions of operators, and an audit log that only grows.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

DIGEST = sa.String(71).with_variant(sa.String(71, collation="C"), "postgresql")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
REFUSAL = "the audit log is append-only"


def upgrade() -> None:
    """Make the tables, the indexes of the queue, and the triggers of the log."""
    op.create_index("ix_community_state_created_at", "community", ["state", "created_at"])
    op.create_index("ix_community_author_created_at", "community", ["author", "created_at"])
    _create_audit()
    _create_keys()
    if op.get_bind().dialect.name == "postgresql":
        _guard_on_postgresql()
    else:
        _guard_on_sqlite()


def downgrade() -> None:
    """Drop them."""
    op.drop_table("admin_sessions")
    op.drop_table("api_keys")
    op.drop_table("community_audit")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_audit_change()")
    op.drop_index("ix_community_author_created_at", table_name="community")
    op.drop_index("ix_community_state_created_at", table_name="community")


def _create_audit() -> None:
    op.create_table(
        "community_audit",
        sa.Column("id", DIGEST, nullable=False),
        sa.Column("at", NAME, nullable=False),
        sa.Column("actor", WORDS, nullable=False),
        sa.Column("action", NAME, nullable=False),
        sa.Column("subject", WORDS, nullable=False),
        sa.Column("reason", WORDS, nullable=False),
        sa.Column("detail", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_community_audit"),
    )
    op.create_index("ix_community_audit_at", "community_audit", ["at"])
    op.create_index("ix_community_audit_subject", "community_audit", ["subject"])


def _create_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", NAME, nullable=False),
        sa.Column("owner", WORDS, nullable=False),
        sa.Column("scopes", WORDS, nullable=False),
        sa.Column("secret_hash", NAME, nullable=False),
        sa.Column("created_at", NAME, nullable=False),
        sa.Column("expires_at", NAME, nullable=False),
        sa.Column("revoked_at", NAME, nullable=True),
        sa.Column("last_used_at", NAME, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.create_table(
        "admin_sessions",
        sa.Column("token_hash", NAME, nullable=False),
        sa.Column("key_id", NAME, nullable=False),
        sa.Column("created_at", NAME, nullable=False),
        sa.Column("expires_at", NAME, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_admin_sessions"),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name="fk_admin_sessions_key_id"),
    )


def _guard_on_sqlite() -> None:
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER community_audit_{verb.lower()} BEFORE {verb} ON community_audit "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )


def _guard_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER community_audit_rows BEFORE UPDATE OR DELETE ON community_audit "
        "FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"
    )
    op.execute(
        "CREATE TRIGGER community_audit_all BEFORE TRUNCATE ON community_audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
    )
