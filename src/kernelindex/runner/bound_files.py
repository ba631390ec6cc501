"""The files of a batch folder as the last line of its journal names them, by their digests.

The line ``ended`` holds ``files``: name -> digest of every file but the journal itself and
what is written after it: the outcome, which follows from that line, and the secret seed. A
resumed batch writes another ``ended``; the last one counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner import batch_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ENDED = "ended"
"""The last line of a journal whose worker came to its end."""
FILES = "files"
SINGLE = (
    batch_files.PLAN,
    batch_files.SEED,
    batch_files.FACTS,
    batch_files.CALIBRATION,
    batch_files.TELEMETRY,
)
_FOLDERS = (batch_files.GENERATIONS, batch_files.ABANDONED)


def file_digests(folder: Path) -> dict[str, str]:
    """Name -> digest of every file that an ``ended`` line binds; raises OSError, ValueError."""
    paths = {name: folder / name for name in SINGLE}
    paths |= {f"{batch_files.SERIES}/{one.name}": one for one in batch_files.series_files(folder)}
    for place in _FOLDERS:
        paths |= {f"{place}/{one.name}": one for one in sorted((folder / place).glob("*.json.gz"))}
    digests = {name: batch_files.file_digest(path) for name, path in paths.items()}
    return {name: digest for name, digest in digests.items() if digest is not None}


def outcome_of(ended: Mapping[str, Any], lines: int, head: str) -> dict[str, Any]:
    """The whole outcome, as it follows from the journal's last line."""
    return {
        "status": ended.get("status"),
        "missing": ended.get("missing"),
        "journal": {"lines": lines, "head": head},
    }


def is_bound(ended: Mapping[str, Any]) -> bool:
    """Whether a journal's last line names files; older workers wrote none."""
    return ended.get("event") == ENDED and isinstance(ended.get(FILES), dict)


def changes(folder: Path, ended: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each file that is not as the last line has it, and in words what was seen and wanted.

    Raises OSError and ValueError for what is no file of a batch folder.
    """
    seen, wanted = file_digests(folder), ended[FILES]
    for name in sorted({*seen, *wanted}):
        if name not in wanted:
            yield name, f"it is {seen[name]}, and the journal names no such file"
        elif name not in seen:
            yield name, f"it is not there, wanted {wanted[name]}"
        elif seen[name] != wanted[name]:
            yield name, f"it is {seen[name]}, wanted {wanted[name]}"
