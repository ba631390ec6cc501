"""The starter's data files."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["FILES", "load_json", "raw"]

FILES = ("candidates.json", "h200.json", "liger.csv", "original.json")


def raw(name: str) -> bytes:
    """The bytes of one file."""
    return files("kernelindex.sources.starter").joinpath(name).read_bytes()


@cache
def load_json(name: str) -> Any:
    """The content of one JSON file."""
    return json.loads(raw(name))
