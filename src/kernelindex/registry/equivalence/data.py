"""The equivalence files, parsed once."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["load_files"]


@cache
def load_files() -> Mapping[str, Mapping[str, Any]]:
    """Every file's content by its name, in the order of names."""
    folder = files("kernelindex.registry").joinpath("equivalence")
    entries = sorted(folder.iterdir(), key=lambda item: item.name)
    return {
        entry.name: json.loads(entry.read_bytes())
        for entry in entries
        if entry.name.endswith(".json")
    }
