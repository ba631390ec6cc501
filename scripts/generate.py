"""Write every generated file again: schemas, reference pages, the digests of Liger's operations.

    python scripts/generate.py

Tests fail where one of them is not current.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
GENERATORS = (
    ("kernelindex.manifests.schema", "--write", "schemas", "--docs", "docs/reference"),
    ("kernelindex.sources.liger.equivalence",),
    ("kernelindex.registry.reference", "--write", "docs/reference"),
    ("kernelindex.cli.reference", "--write", "docs/reference"),
    ("kernelindex.api.reference", "--write", "docs/reference"),
)


def main() -> int:
    """Run each generator; stop at the first that fails."""
    for module, *arguments in GENERATORS:
        print(module)
        command = [sys.executable, "-m", module, *arguments]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            return 1
    copy = [sys.executable, "scripts/copy_guides.py"]
    return subprocess.run(copy, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
