"""What the registry needs to know of this source's manifests: generated, checked to be current.

``python -m kernelindex.sources.liger.equivalence`` writes ``registry/equivalence/liger.json``:
the digests of the OperationSpecs made here with the operation each is, under its own axis
names, and the implementation lines with the names of their manifests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernelindex.registry.operation_specs import build_operation
from kernelindex.sources.liger.building import build_implementation
from kernelindex.sources.liger.measuring import SOURCE
from kernelindex.sources.liger.table import LineRow, load_lines, load_table

__all__ = ["FILE", "build_equivalence", "render"]

FILE = "registry/equivalence/liger.json"


def build_equivalence() -> dict[str, Any]:
    """Groups of operation digests by slug, and lines with the manifest names of each."""
    entries = [entry for kernel in load_table().values() for entry in kernel]
    slugs = sorted({entry.operation for entry in entries})
    names: dict[str, set[str]] = {}
    for entry in entries:
        for provider in entry.providers.values():
            name = build_implementation(provider.line, entry.operation, "").name
            names.setdefault(provider.line, set()).add(name)
    return {
        "source": "generated from the Liger source's own manifests and reviewed table",
        "groups": [_group(slug) for slug in slugs],
        "lines": [_line(load_lines()[line], sorted(names[line])) for line in sorted(names)],
    }


def render() -> str:
    """The text of the file."""
    return json.dumps(build_equivalence(), indent=1, ensure_ascii=False) + "\n"


def _group(slug: str) -> dict[str, Any]:
    basis = "the source writes our own operation, under our axis names"
    member = {"digest": build_operation(slug).digest, "name": slug}
    return {"slug": slug, "basis": basis, "members": [member]}


def _line(line: LineRow, names: list[str]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": line.id,
        "title": line.title,
        "project": line.project,
        "entry_point": line.entry_point,
        "source": SOURCE,
        "names": names,
    }
    if line.restates is not None:
        described["restates"] = line.restates
    return described


if __name__ == "__main__":
    package = Path(__file__).resolve().parents[2]
    (package / FILE).write_text(render())
