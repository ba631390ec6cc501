"""Manifests to rows: tables, publishing, rebuilding, search, record events, export.

Names are imported when first used: SQLAlchemy alone takes a tenth of a second, which
commands that never touch the catalog must not pay.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelindex.catalog.catalog import Catalog
    from kernelindex.catalog.correcting import correct
    from kernelindex.catalog.importing import import_records

__all__ = ["Catalog", "correct", "import_records"]

_HOMES = {
    "Catalog": "catalog",
    "correct": "correcting",
    "import_records": "importing",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
