"""Copy the guides that pages show into the package, which the wheel carries.

python scripts/copy_guides.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ("methodology.md",)


def main(arguments: list[str]) -> int:
    """Copy, or with ``--check`` say which copies are stale."""
    stale = []
    for name in GUIDES:
        original = (ROOT / "docs" / "guides" / name).read_bytes()
        copy = ROOT / "src" / "kernelindex" / "web" / "guides" / name
        if not copy.is_file() or copy.read_bytes() != original:
            stale.append(name)
            if "--check" not in arguments:
                copy.write_bytes(original)
    if stale and "--check" in arguments:
        print(f"stale: {', '.join(stale)}; run python scripts/copy_guides.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
