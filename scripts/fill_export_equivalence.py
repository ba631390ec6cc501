"""Fill the members of registry/equivalence/export.json from the public export.

    python scripts/fill_export_equivalence.py EXPORT.jsonl.zst [--check]

The groups (slug, names, axes, tensors, dropped, basis) are reviewed by hand. This script
lists the operations whose upstream name a group's pattern matches in full, with their
digests and constant axes, and refuses a member that has an axis or a tensor the group does
not mention. Everything else is listed as unmapped, by name.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from kernelindex.manifests import canonical
from kernelindex.sources import streams

DATA = Path(__file__).parents[1] / "src/kernelindex/registry/equivalence/export.json"
OBJECTS = ("axes", "tensors", "dropped")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("export", type=Path)
    parser.add_argument("--check", action="store_true", help="fail where the file would change")
    arguments = parser.parse_args()
    text = written(filled(json.loads(DATA.read_text()), read_operations(arguments.export)))
    if arguments.check:
        return int(text != DATA.read_text())
    DATA.write_text(text)
    return 0


def read_operations(export: Path) -> dict[str, dict[str, Any]]:
    """Upstream name -> {digest, spec} of every operation of the export."""
    rows: dict[str, dict[str, Any]] = {}
    names: dict[str, str] = {}
    for line in streams.lines(export):
        row: Any = canonical.loads(line.data or b"", max_bytes=1 << 22)
        if row["table"] == "operations":
            rows[row["row"]["id"]] = row["row"]
        elif row["table"] == "operation_aliases":
            names.setdefault(row["row"]["operationId"], row["row"]["alias"])
    return {
        names[ident]: {"digest": row["semanticDigest"], "spec": row["manifest"]["spec"]}
        for ident, row in rows.items()
    }


def filled(data: dict[str, Any], operations: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The same groups with their members, and what no group takes."""
    left = dict(operations)
    for group in data["groups"]:
        matches = {
            name: match
            for name in sorted(operations)
            if (match := next(filter(None, (re.fullmatch(p, name) for p in group["names"])), None))
        }
        group["members"] = [
            member(group, name, operations[name], match) for name, match in matches.items()
        ]
        for name in matches:
            del left[name]
    data["unmapped"] = {operations[name]["digest"]: name for name in sorted(left)}
    return data


def member(
    group: dict[str, Any], name: str, operation: dict[str, Any], match: re.Match[str]
) -> dict[str, Any]:
    """One operation of a group; exits where the group does not cover it."""
    spec = operation["spec"]
    tensors = [t["name"] for t in (*spec["inputs"], *spec["outputs"]) if "tensor" in t]
    missing = [a for a in spec["axes"] if a not in group["axes"] | group.get("dropped", {})]
    missing += [t for t in tensors if t not in group["tensors"]]
    if missing:
        sys.exit(f"{group['slug']}: {name} also has {', '.join(missing)}")
    constants = {
        group["axes"][axis]: info["value"]
        for axis, info in spec["axes"].items()
        if info["role"] == "constant" and axis in group["axes"]
    }
    constants |= {axis: int(value) for axis, value in match.groupdict().items()}
    return {
        "digest": operation["digest"],
        "name": name,
        "constants": dict(sorted(constants.items())),
    }


def written(data: dict[str, Any]) -> str:
    """The file's text: one member a line, so that a review sees what changed."""
    groups = ",\n".join(_group(group) for group in data["groups"])
    unmapped = ",\n".join(
        f"  {_json(digest)}: {_json(name)}" for digest, name in data["unmapped"].items()
    )
    head = f'{{"source": {_json(data["source"])},\n"groups": [\n{groups}\n],\n'
    return f'{head}"unmapped": {{\n{unmapped}\n}}}}\n'


def _group(group: dict[str, Any]) -> str:
    order = ("slug", "names", "computes", "basis", *OBJECTS)
    fields = [f"  {_json(key)}: {_json(group[key])}" for key in order if key in group]
    members = ",\n".join(f"   {_json(one)}" for one in group["members"])
    return "{\n" + ",\n".join(fields) + f',\n  "members": [\n{members}\n  ]\n}}'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
