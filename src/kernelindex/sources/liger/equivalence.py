"""What the registry needs to know of this source's manifests: generated, checked to be current.

``python -m kernelindex.sources.liger.equivalence`` writes ``registry/equivalence/liger.json``:
the digests of the OperationSpecs made here with the operation each is, under its own axis
names, and the implementation lines by where their code is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernelindex.sources.liger.building import build_operation
from kernelindex.sources.liger.measuring import SOURCE
from kernelindex.sources.liger.table import LineRow, load_lines, load_table

__all__ = ["FILE", "build_equivalence", "render"]

FILE = "registry/equivalence/liger.json"


def build_equivalence() -> dict[str, Any]:
    """Operation digests to slugs, and lines with the callable that each is matched by."""
    entries = [entry for kernel in load_table().values() for entry in kernel]
    slugs = sorted({entry.operation for entry in entries})
    return {
        "source": SOURCE,
        "operations": {build_operation(slug).digest: slug for slug in slugs},
        "lines": [_line(line) for line in load_lines().values()],
    }


def render() -> str:
    """The text of the file."""
    return json.dumps(build_equivalence(), indent=1, ensure_ascii=False) + "\n"


def _line(line: LineRow) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": line.id,
        "title": line.title,
        "project": line.project,
        "entry_point": line.entry_point,
        "match": {
            "repository": line.repository,
            "path": line.path,
            "symbol": line.symbol,
            "language": line.language,
        },
    }
    if line.restates is not None:
        described["restates"] = line.restates
    return described


if __name__ == "__main__":
    package = Path(__file__).resolve().parents[2]
    (package / FILE).write_text(render())
