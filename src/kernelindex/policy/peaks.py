"""Which of a product's nominal peaks a run is held against.

Two questions with different burdens: the peak a percent is *shown* against is that of the
fastest dtype the run states; the peak it is *accused* by is the fastest that any honest
kernel on those values could reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.registry.dtypes import DTYPES, resolve_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex.registry.hardware import Product

NOT_COMPUTED_IN = frozenset(
    ("int16", "int32", "int64", "uint16", "uint32", "uint64", "bool", "fp8_e8m0")
)
"""Indexes, masks and block scales: arithmetic does not run in them."""

FASTER_UNIT = {"fp32": "tf32"}
"""The faster unit that honestly takes a dtype's values."""


def shown_peak(dtypes: Iterable[str], product: Product) -> tuple[float, str] | None:
    """The highest nominal peak (FLOP/s) among the dtypes, and whose it is.

    ``None`` where a dtype has no peak on this product (not resolved, or bytes that pack
    something else), since then nobody can say in what it was computed.
    """
    found = []
    for dtype in _computed(dtypes):
        peaks = [(product.peaks_flops[name], name) for name in _names(dtype, product)]
        if not peaks:
            return None
        found.append(max(peaks))
    return max(found, default=None)


def accusing_peak(dtypes: Iterable[str], product: Product) -> float | None:
    """The highest rate (FLOP/s) that is honestly possible on such values.

    Small floats count at the int8 rate scaled by their width, which is what accumulating
    in fp16 reaches on consumer cards; a dtype without a peak counts as the device's fastest.
    """
    fastest = max(product.peaks_flops.values(), default=None)
    found = []
    for dtype in _computed(dtypes):
        names = _names(dtype, product)
        if not names:
            return fastest
        found += [product.peaks_flops[name] for name in names]
        found.append(_int8_rate(dtype, product))
    return max(found, default=None)


def _computed(dtypes: Iterable[str]) -> list[str]:
    return sorted({dtype for dtype in dtypes if dtype not in NOT_COMPUTED_IN})


def _names(dtype: str, product: Product) -> list[str]:
    """The product's peaks that a dtype may run at; an ambiguous spelling has its variants'."""
    spelled = (dtype, FASTER_UNIT.get(dtype, dtype), *resolve_dtype(dtype).ambiguous)
    return [name for name in spelled if name in product.peaks_flops]


def _int8_rate(dtype: str, product: Product) -> float:
    known = DTYPES.get(dtype)
    if known is None or known.bits > 16:
        return 0.0
    return product.peaks_flops.get("int8", 0.0) * 8 / known.bits
