"""Alembic's entry: migrates the truth tables on the connection it is given."""

from __future__ import annotations

from alembic import context

from kernelindex.catalog.tables import truth

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=truth.metadata,
    transactional_ddl=False,
    render_as_batch=True,
)
context.run_migrations()
