"""Where the shared real data lies, if it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def shared_root() -> Path:
    """The folder of shared data: ``KI_SHARED``, else ``shared`` beside the checkout."""
    return Path(os.environ.get("KI_SHARED", CHECKOUT.parent / "shared"))


def shared_path(relative: str) -> Path:
    """A file of the shared data; skips the calling test, saying so, where it is absent."""
    path = shared_root() / relative
    if not path.exists():
        pytest.skip(f"shared data not here: {relative} (set KI_SHARED)")
    return path
