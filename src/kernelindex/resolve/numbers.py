"""Numbers for people: one unit for a table, three digits where no interval allows more."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex.units import format_bytes, format_ratio

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.resolve.answer import Spread

_TIME = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_NS_PER = {"ns": 1.0, "s": 1e9}
DIGITS = 3
MAX_DIGITS = 6
_HALF_SLACK = 1e-9  # half of an interval of 0.02 is 0.00999… by subtraction
_CLOSE_PERCENT = re.compile(r"(?<=\d)%")


@dataclass(frozen=True, slots=True)
class Scale:
    """One unit for a whole table: shown value = stored value / ``divisor``."""

    unit: str
    divisor: float

    def show(self, value: float, half_width: float | None = None) -> str:
        """``value`` in this unit, without the unit.

        ``half_width`` of a 95 % interval, in the stored unit, sets the digits: down to its
        first significant one. Without it three digits are shown.
        """
        return significant(value / self.divisor, digits_for(value, half_width))

    def with_unit(self, value: float, half_width: float | None = None) -> str:
        """``value`` with its unit, such as ``5.75 ms``."""
        shown = self.show(value, half_width)
        return f"{shown} {self.unit}" if self.unit else shown


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """The unit that suits the smallest of ``values``, which are stored in ``unit``."""
    least = min((abs(value) for value in values if value), default=0.0)
    if unit == "bytes":
        return _bytes_scale(least)
    if unit not in _NS_PER:
        return Scale("" if unit in {"none", "ratio"} else unit, 1.0)
    least_ns = least * _NS_PER[unit]
    for name, size in _TIME:
        if least_ns >= size * 0.9995:
            return Scale(name, size / _NS_PER[unit])
    return Scale("ns", 1.0 / _NS_PER[unit])


def digits_for(value: float, half_width: float | None) -> int:
    """Significant digits that an interval of this half width supports; 3 without one."""
    if not half_width or not value:
        return DIGITS
    lead = math.floor(math.log10(abs(value)))
    noise = math.floor(math.log10(abs(half_width)) + _HALF_SLACK)
    return max(2, min(MAX_DIGITS, lead - noise + 1))


def half_of(interval: Spread | None) -> float | None:
    """Half of a 95 % interval, in its own unit; nothing without one."""
    return (interval.high - interval.low) / 2 if interval else None


def significant(value: float, digits: int = DIGITS) -> str:
    """``value`` with this many significant digits, never in exponent form.

    Digits left of the point are all written, so 12345 at three digits is ``12,300``.
    """
    decimals = carried_decimals(value, digits)
    return str(value) if decimals is None and value else shown_at(value, decimals or 0)


def carried_decimals(value: float, digits: int) -> int | None:
    """Decimals of ``value`` at this many significant digits; fewer than 0 round before the point.

    None for what has no digits: zero, and what is not finite.
    """
    if not value or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits - 1}e}")
    return digits - 1 - math.floor(math.log10(abs(rounded)))


def shown_at(value: float, decimals: int) -> str:
    """``value`` rounded to these decimals, with all digits left of the point."""
    if not math.isfinite(value):
        return str(value)
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


def ratio_text(ratio: float) -> str:
    """A ratio as ``11.1x``."""
    return format_ratio(ratio).replace("×", "x")


def spaced_percent(text: str) -> str:
    """A text of policy with every percent as the pages write it: ``5 %``."""
    return _CLOSE_PERCENT.sub(" %", text)


def memory_text(size_bytes: float) -> str:
    """A size such as ``4.67 GiB``."""
    return format_bytes(size_bytes)


def signed_time(shift_ns: float, beside_ns: float | None = None) -> str:
    """A signed size such as ``+0.70 ms``: two digits, in the unit of what it stands beside."""
    scale = scale_for([beside_ns or shift_ns], "ns")
    shown = significant(abs(shift_ns) / scale.divisor, 2)
    return f"{'-' if shift_ns < 0 else '+'}{shown} {scale.unit}"


def _bytes_scale(least: float) -> Scale:
    for name, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if least >= size * 0.9995:
            return Scale(name, float(size))
    return Scale("B", 1.0)
