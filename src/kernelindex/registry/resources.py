"""Read the package's curated data files."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from kernelindex.errors import RegistryError


def load_data(name: str) -> Any:
    """Parse ``registry/data/<name>``.

    Raises RegistryError ``registry.unreadable`` where the file is missing or is not JSON.
    """
    try:
        return json.loads(read_data(name))
    except ValueError as problem:
        raise _unreadable(name, problem) from problem


def read_data(name: str) -> bytes:
    """The bytes of ``registry/data/<name>``. Raises as ``load_data`` where it is missing."""
    try:
        return files("kernelindex.registry").joinpath("data", name).read_bytes()
    except OSError as problem:
        raise _unreadable(name, problem) from problem


def _unreadable(name: str, problem: Exception) -> RegistryError:
    return RegistryError(
        f"registry data {name} cannot be read ({problem}); reinstall kernelindex",
        code="registry.unreadable",
        file=name,
    )
