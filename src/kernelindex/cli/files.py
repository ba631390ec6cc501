"""Manifest files named on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kernelindex.manifests import Manifest

MANIFEST_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
"""The type of an argument that names one manifest."""
YAML_SUFFIXES = frozenset({".yaml", ".yml"})


def read_manifest_file(name: str) -> Manifest:
    """Load one manifest; YAML by its suffix, else JSON; ``-`` is JSON on standard input.

    Raises CanonicalError or ManifestError where it is refused.
    """
    from kernelindex.manifests import load

    if name == "-":
        return load(sys.stdin.buffer.read())
    path = Path(name)
    is_yaml = path.suffix.lower() in YAML_SUFFIXES
    return load(path.read_bytes(), form="yaml" if is_yaml else "json")
