"""Folders that outlive a test and not the process, for what many tests share."""

from __future__ import annotations

import atexit
import shutil
from pathlib import Path
from tempfile import mkdtemp


def lasting_folder(name: str) -> Path:
    """A new folder, removed when the process ends: a full disk fails whatever comes next."""
    folder = Path(mkdtemp(prefix=f"ki-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
