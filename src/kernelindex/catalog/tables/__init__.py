"""One schema for SQLite and PostgreSQL: what is true, and what is derived from it."""

from kernelindex.catalog.tables import derived, truth

__all__ = ["derived", "truth"]
