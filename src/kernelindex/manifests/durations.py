"""Durations: integer nanoseconds, or a decimal text with a unit that is exactly that."""

from __future__ import annotations

import re

__all__ = ["PATTERN", "duration_ns"]

PATTERN = r"^[0-9]+(\.[0-9]+)? (ns|us|[µμ]s|ms|s)$"

_TEXT = re.compile(r"(?P<whole>[0-9]+)(?:\.(?P<fraction>[0-9]+))? (?P<unit>ns|us|[µμ]s|ms|s)")
_EXPONENTS = {"ns": 0, "us": 3, "µs": 3, "μs": 3, "ms": 6, "s": 9}
_MAX_LENGTH = 64


def duration_ns(text: str) -> int | None:
    """The nanoseconds that ``text`` is exactly (``8.12 ms`` is 8120000), else None.

    Decimal digits are shifted, never divided, so that no rounding can occur.
    """
    match = _TEXT.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        return None
    fraction = (match["fraction"] or "").rstrip("0")
    shift = _EXPONENTS[match["unit"]] - len(fraction)
    return int(match["whole"] + fraction) * 10**shift if shift >= 0 else None
