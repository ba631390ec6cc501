"""The file's numbers, by decimal arithmetic: milliseconds to ns, MiB (which it calls MB) to bytes.

Times are float32 written out in full (``0.0071680000983178616``), so a value is rounded to
whole ns; the text itself is kept in the observation.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

__all__ = ["MISSING", "to_bytes", "to_ns", "whole_number"]

MISSING = frozenset({"", "nan", "none", "inf", "-inf", "infinity", "-infinity"})
"""Texts, in lower case, that say a value was not measured."""

_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{0,60})?(?:[eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"([0-9]{1,15})(?:\.0{1,20})?")
_PRECISION = 120
_NS_PER_MS = 10**6
_BYTES_PER_MIB = 2**20
_LARGEST = 2**53 - 1


def to_ns(text: str) -> int | None:
    """Whole ns of a time in ms; None for what is no positive number of a sane size."""
    return _scaled(text, _NS_PER_MS)


def to_bytes(text: str) -> int | None:
    """Whole bytes of a size in MiB; None for what is no positive number of a sane size."""
    return _scaled(text, _BYTES_PER_MIB)


def whole_number(text: str) -> int | None:
    """A non-negative integer written as ``4096`` or ``4096.0``, else None."""
    match = _WHOLE.fullmatch(text.strip())
    return int(match[1]) if match else None


def _scaled(text: str, factor: int) -> int | None:
    if not _NUMBER.fullmatch(text.strip()):
        return None
    with localcontext() as context:
        context.prec = _PRECISION
        value = Decimal(text.strip()) * factor
        if not Decimal("0.5") < value <= _LARGEST:
            return None
        return int(value.to_integral_value(rounding=ROUND_HALF_EVEN))
