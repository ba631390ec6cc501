"""Manifests to rows: tables, publishing, rebuilding, search, record events, export.

Names are imported when first used: SQLAlchemy alone takes a tenth of a second, which
commands that never touch the catalog must not pay.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelindex.catalog.catalog import Catalog
    from kernelindex.catalog.checking import Finding, check
    from kernelindex.catalog.correcting import correct
    from kernelindex.catalog.exporting import export_digest, export_to
    from kernelindex.catalog.importing import import_records
    from kernelindex.catalog.loading import load_export
    from kernelindex.catalog.rebuilding import rebuild

__all__ = [
    "Catalog",
    "Finding",
    "check",
    "correct",
    "export_digest",
    "export_to",
    "import_records",
    "load_export",
    "rebuild",
]

_HOMES = {
    "Catalog": "catalog",
    "Finding": "checking",
    "check": "checking",
    "correct": "correcting",
    "export_digest": "exporting",
    "export_to": "exporting",
    "import_records": "importing",
    "load_export": "loading",
    "rebuild": "rebuilding",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
