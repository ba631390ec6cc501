"""Seeds of single draws, derived from the seed of the batch."""

from __future__ import annotations

import hashlib

__all__ = ["derive_seed"]


def derive_seed(batch_seed: str, point: str, draw: str, index: int, part: str) -> int:
    """A seed of 63 bits: the head of SHA-256 over the lines of what it is for.

    ``part`` is ``inputs`` or ``upstream``; ``index`` is the rotation set's.
    """
    text = "\n".join((batch_seed, point, draw, str(index), part))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
