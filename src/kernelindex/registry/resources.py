"""Read the package's curated data files."""

from __future__ import annotations

import json
from typing import Any

from kernelindex.errors import RegistryError


def load_data(name: str) -> Any:
    """Parse ``registry/data/<name>``.

    Raises RegistryError ``registry.unreadable`` where the file is missing or is not JSON.
    """
    from importlib.resources import files

    resource = files("kernelindex.registry").joinpath("data", name)
    try:
        return json.loads(resource.read_bytes())
    except (OSError, ValueError) as problem:
        raise RegistryError(
            f"registry data {name} cannot be read ({problem}); reinstall kernelindex",
            code="registry.unreadable",
            file=name,
        ) from problem
