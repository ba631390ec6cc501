"""What an earlier start left torn: renamed, so that nothing is lost or in the way."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PART = ".part"
TORN = ".torn-"


def set_aside(path: Path) -> Path | None:
    """Rename ``<task>`` or ``<task>.part`` to the first free ``<task>.torn-N``; where it is now.

    None where nothing is there. Raises OSError.
    """
    if not os.path.lexists(path):
        return None
    task = path.name.removesuffix(PART)
    names = (path.with_name(f"{task}{TORN}{number}") for number in count(1))
    return path.rename(next(name for name in names if not os.path.lexists(name)))
