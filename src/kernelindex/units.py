"""Exact conversion of source numbers, and numbers for people.

Sources print milliseconds, seconds or MB; the index keeps integer nanoseconds and bytes.
Conversion goes through ``Decimal`` so that ``8.12 ms`` is 8,120,000 ns and a float32
artefact such as ``0.0071680000983178616 ms`` is 7,168 ns.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Final

NS_PER_UNIT: Final = {
    "ns": Decimal(1),
    "us": Decimal(1_000),
    "µs": Decimal(1_000),
    "μs": Decimal(1_000),
    "ms": Decimal(1_000_000),
    "s": Decimal(1_000_000_000),
}
BYTES_PER_UNIT: Final = {
    "B": Decimal(1),
    "bytes": Decimal(1),
    "KiB": Decimal(2**10),
    "MiB": Decimal(2**20),
    "GiB": Decimal(2**30),
    "TiB": Decimal(2**40),
    "kB": Decimal(10**3),
    "MB": Decimal(10**6),
    "GB": Decimal(10**9),
    "TB": Decimal(10**12),
}

_MAX_TEXT = 64
_MAX_EXPONENT = 64
_TIME_STEPS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_BINARY_STEPS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_DECIMAL_STEPS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_FLOP_STEPS = ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1.0, "FLOP"))


def parse_number(text: str | int | float | Decimal) -> Decimal | None:
    """A finite decimal, or ``None`` for what is not one (empty, ``nan``, ``inf``, words).

    A float is taken at its shortest repeating text, which is what a source printed.
    """
    shown = str(text).strip()
    if not shown or len(shown) > _MAX_TEXT or "_" in shown or not shown.isascii():
        return None
    try:
        number = Decimal(shown)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _MAX_EXPONENT:
        return None
    return number


def to_ns(text: str | int | float | Decimal, unit: str) -> int | None:
    """A source's duration in whole ns, rounded half to even; ``None`` when not a number.

    Raises KeyError for a unit that is not in ``NS_PER_UNIT``: a bug in the importer.
    """
    return _scaled(text, NS_PER_UNIT[unit])


def to_bytes(text: str | int | float | Decimal, unit: str) -> int | None:
    """A source's size in whole bytes, rounded half to even; ``None`` when not a number.

    ``MB`` is 10^6; a source whose MB means 2^20 (Liger) is read with ``MiB``.
    Raises KeyError for a unit that is not in ``BYTES_PER_UNIT``: a bug in the importer.
    """
    return _scaled(text, BYTES_PER_UNIT[unit])


def exact_duration_ns(text: str) -> int | None:
    """``"8.12 ms"`` as ns where that is a whole number of ns, else ``None``.

    The form is ``<decimal> <unit>``: digits, at most one point, one space, a unit.
    """
    number, space, unit = text.partition(" ")
    if not space or unit not in NS_PER_UNIT or not number.replace(".", "", 1).isdigit():
        return None
    value = parse_number(number)
    if value is None:
        return None
    scaled = value * NS_PER_UNIT[unit]
    return int(scaled) if scaled == scaled.to_integral_value() else None


def _scaled(text: str | int | float | Decimal, factor: Decimal) -> int | None:
    number = parse_number(text)
    if number is None:
        return None
    return int((number * factor).to_integral_value(rounding=ROUND_HALF_EVEN))


def format_duration_ns(value: float, digits: int = 4) -> str:
    """A duration for people: ``5.752 ms``; ``digits`` significant digits."""
    return _stepped(value, digits, _TIME_STEPS)


def format_bytes(value: float, digits: int = 3, *, binary: bool = True) -> str:
    """A size for people: ``4.67 GiB``, or ``5.02 GB`` where ``binary`` is false (traffic)."""
    return _stepped(value, digits, _BINARY_STEPS if binary else _DECIMAL_STEPS)


def format_flops(value: float, digits: int = 4, *, per_second: bool = False) -> str:
    """Floating point work for people: ``618.5 GFLOP``, or a rate: ``215.1 TFLOP/s``."""
    return _stepped(value, digits, _FLOP_STEPS) + ("/s" if per_second else "")


def format_ratio(value: float) -> str:
    """A ratio for people: ``1.003×``, ``1.18×``, ``11.1×``, ``250×``."""
    return f"{value:,.{ratio_decimals(value)}f}×"


def ratio_decimals(value: float) -> int:
    """Decimals of a ratio for people: the closer to 1, the more."""
    steps = ((1.1, 3), (10.0, 2), (100.0, 1))
    return next((decimals for below, decimals in steps if round(value, decimals) < below), 0)


def format_percent(fraction: float, digits: int = 2) -> str:
    """A share for people: ``22 %``, ``0.30 %``; ``digits`` significant digits."""
    return f"{_significant(fraction * 100, digits)} %"


def _stepped(value: float, digits: int, steps: tuple[tuple[float, str], ...]) -> str:
    """``value`` in the largest step it fills after rounding."""
    size = abs(value)
    for factor, unit in steps:
        if float(f"{size / factor:.{digits - 1}e}") >= 1.0:
            return f"{_significant(value / factor, digits)} {unit}"
    factor, unit = steps[-1]
    return f"{_significant(value / factor, digits)} {unit}"


def _significant(value: float, digits: int) -> str:
    """``value`` with ``digits`` significant digits, never in exponent form."""
    if value == 0:
        return "0"
    rounded = Decimal(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - rounded.adjusted())
    return f"{rounded:,.{decimals}f}"
