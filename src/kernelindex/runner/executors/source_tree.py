"""The part of the source tree that the worker needs, packed for another machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

import kernelindex
from kernelindex.runner.executors.work import pack_tree

BARE = (
    *("__init__.py", "errors.py", "ids.py", "selfchecks.py", "stats.py", "units.py"),
    *("runner", "kernels"),
)
_SUFFIXES = frozenset((".py", ".json"))


def pack_source() -> bytes:
    """The bare side of ``kernelindex`` as ``work.perform`` takes it."""
    root = Path(kernelindex.__file__).parent
    with tempfile.TemporaryDirectory(prefix="ki-source-") as name:
        for path in _files(root):
            copy = Path(name) / "kernelindex" / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        return pack_tree(Path(name))


def _files(root: Path) -> list[Path]:
    """Python and data files below the names of ``BARE``."""
    found: list[Path] = []
    for name in BARE:
        path = root / name
        found += [path] if path.is_file() else sorted(path.rglob("*"))
    return [path for path in found if path.suffix in _SUFFIXES]
