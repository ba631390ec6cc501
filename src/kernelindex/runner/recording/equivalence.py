"""What the registry needs to know of controlled runs: generated, checked to be current.

``python -m kernelindex.runner.recording.equivalence`` writes
``registry/equivalence/runner.json``: the line of every candidate that can be run here with
the name of its manifest, and the operations that no other source writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernelindex.registry.equivalence.data import load_files
from kernelindex.registry.operation_specs import build_operation
from kernelindex.runner.offers import recordable
from kernelindex.runner.operations.description import CandidateSpec, load_operation
from kernelindex.runner.recording.software import implementation_name
from kernelindex.runner.standings import SOURCE

__all__ = ["FILE", "build_equivalence", "render"]

FILE = "registry/equivalence/runner.json"


def build_equivalence() -> dict[str, Any]:
    """Groups of operation digests that other files lack, and the lines of all candidates."""
    known = _known_lines()
    lines: dict[str, dict[str, Any]] = {}
    for slug in recordable():
        for candidate in load_operation(slug).candidates:
            line = lines.setdefault(candidate.line_id, _line(candidate, known))
            line["names"].append(implementation_name(candidate, slug))
    return {
        "source": "generated from the runner's own descriptions of operations",
        "groups": [_group(slug) for slug in recordable() if not _is_mapped(slug)],
        "lines": [{**line, "names": sorted(line["names"])} for _, line in sorted(lines.items())],
    }


def render() -> str:
    """The text of the file."""
    return json.dumps(build_equivalence(), indent=1, ensure_ascii=False) + "\n"


def _line(candidate: CandidateSpec, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A line as another source describes it already, else by the candidate's own words."""
    described = {
        "id": candidate.line_id,
        "title": candidate.title,
        "project": candidate.project,
        "entry_point": candidate.line_id.partition("/")[2] or candidate.line_id,
        "source": SOURCE,
        "names": [],
    }
    same = known.get(candidate.line_id, {})
    kept = ("title", "project", "entry_point", "restates")
    return described | {name: same[name] for name in kept if name in same}


def _known_lines() -> dict[str, dict[str, Any]]:
    return {
        line["id"]: line
        for content in load_files().values()
        for line in content.get("lines", ())
        if line["source"] != SOURCE
    }


def _is_mapped(slug: str) -> bool:
    """Whether another file maps the OperationSpec that the runner writes."""
    digest = build_operation(slug).digest
    return any(
        member["digest"] == digest
        for name, content in load_files().items()
        if name != Path(FILE).name
        for group in content.get("groups", ())
        for member in group["members"]
    )


def _group(slug: str) -> dict[str, Any]:
    basis = "the runner writes our own operation, under our axis names"
    return {
        "slug": slug,
        "basis": basis,
        "members": [{"digest": build_operation(slug).digest, "name": slug}],
    }


if __name__ == "__main__":
    package = Path(__file__).resolve().parents[2]
    (package / FILE).write_text(render())
