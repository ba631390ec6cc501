"""What the rows of a database must have been made by to be served by this code."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from sqlalchemy import Connection

SCHEMA_REVISION = "0005"
"""The newest migration; a test holds it to the migrations folder."""

DERIVATION = 6
"""Raise it when derived rows change without their tables or the policy changing."""

DERIVED_KEY = "derived_version"

UNDERIVED = frozenset({"corrections.json"})
"""Registry data that no row is derived from: it comes in by an import, like any correction."""


def schema_revision(conn: Connection) -> str | None:
    """The migration the database is at, or None where none was ever applied."""
    if not conn.dialect.has_table(conn, "alembic_version"):
        return None
    found = conn.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)


@cache
def derived_version() -> str:
    """A hash over the derived tables and their coding, the policy's version, and the registry."""
    from kernelindex.catalog.facts_dictionary import SAMPLE
    from kernelindex.policy import POLICY_VERSION

    total = hashlib.sha256(f"{DERIVATION}:{POLICY_VERSION}".encode() + SAMPLE)
    package = resources.files("kernelindex")
    total.update((package / "catalog" / "tables" / "derived.py").read_bytes())
    for name, data in _data_files(package / "registry"):
        total.update(name.encode())
        total.update(data)
    return total.hexdigest()


def _data_files(folder: Traversable) -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda child: child.name):
        if item.is_dir():
            yield from _data_files(item)
        elif item.name.endswith((".json", ".yaml", ".yml")) and item.name not in UNDERIVED:
            yield item.name, item.read_bytes()
