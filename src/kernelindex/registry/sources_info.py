"""What is known of each source as a whole: licence, repeat dispersion, standing doubts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from kernelindex.registry.resources import load_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.registry.hardware import Product

Effect = Literal["blocks", "shifts", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispersion:
    """How far a source's own repeats of one entry lie apart, as larger / smaller - 1.

    ``p90_relative``       90th percentile of the range of an entry, over ``entries`` of them
    ``p95_pair_relative``  95th percentile of two repeats, over ``pairs`` of them: the least
                           tolerance under which at most 5 % of repeats look decisive

    Policy applies its floor of 5 % on top. Written by ``scripts/derive_dispersion.py``.
    """

    p90_relative: float
    p95_pair_relative: float
    entries: int
    pairs: int
    derivation: str
    measured_on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Extra traffic inside the timed region, as a product of a factor and axes.

    bytes = ``bytes_factor`` x the product of ``axes``; the time is bytes over the copy
    rate of the device. ``measured_ns`` holds product id -> ns at ``measured_at``.
    """

    bytes_factor: int
    axes: tuple[str, ...]
    measured_at: Mapping[str, int]
    measured_ns: Mapping[str, float]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDoubt:
    """A doubt that all rows of a source share, or those of some operations and passes.

    Empty ``operations`` or ``passes`` means all. A positive shift says that the published
    time is longer than the kernel's own by that much.
    """

    code: str
    effect: Effect
    text: str
    source: str
    operations: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    shift: Shift | None = None

    def applies_to(self, operation: str, timed_pass: str) -> bool:
        """Whether a run of this operation slug and pass carries the doubt."""
        return (not self.operations or operation in self.operations) and (
            not self.passes or timed_pass in self.passes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """One source; ``freshness_days`` is how often it is expected to publish."""

    slug: str
    title: str
    homepage: str
    licence: str | None
    attribution: str
    freshness_days: int | None = None
    dispersion: Dispersion | None = None
    doubts: tuple[SourceDoubt, ...] = ()


def find_source(slug: str) -> SourceInfo | None:
    """The source of this slug, or ``None``: then nothing is known of its dispersion."""
    return load_sources().get(slug)


def shift_ns(doubt: SourceDoubt, product: Product | None, axes: Mapping[str, int]) -> float | None:
    """By how many ns the doubt lengthens a time on this product and shape, where known."""
    shift = doubt.shift
    if shift is None or product is None or any(axis not in axes for axis in shift.axes):
        return None
    traffic = _traffic_bytes(shift, axes)
    measured = shift.measured_ns.get(product.id)
    if measured is not None:
        return measured * traffic / _traffic_bytes(shift, shift.measured_at)
    copy = product.attainable.get("copy")
    return traffic / copy.value * 1e9 if copy else None


def _traffic_bytes(shift: Shift, axes: Mapping[str, int]) -> int:
    total = shift.bytes_factor
    for axis in shift.axes:
        total *= axes[axis]
    return total


@cache
def load_sources() -> dict[str, SourceInfo]:
    """Every source by slug."""
    measured = load_data("dispersion.json")["sources"]
    rows = load_data("sources.json")["sources"]
    return {row["slug"]: _read_source(row, measured.get(row["slug"])) for row in rows}


def _read_source(row: dict[str, Any], dispersion: Mapping[str, Any] | None) -> SourceInfo:
    doubts = tuple(_read_doubt(doubt) for doubt in row.pop("doubts", ()))
    found = Dispersion(**dispersion) if dispersion else None
    return SourceInfo(**row, doubts=doubts, dispersion=found)


def _read_doubt(row: dict[str, Any]) -> SourceDoubt:
    shift = row.pop("shift", None)
    operations = tuple(row.pop("operations", ()))
    passes = tuple(row.pop("passes", ()))
    found = Shift(**{**shift, "axes": tuple(shift["axes"])}) if shift else None
    return SourceDoubt(**row, operations=operations, passes=passes, shift=found)


SOURCES: dict[str, SourceInfo]
"""``load_sources()``, read on first use."""


def __getattr__(name: str) -> object:
    if name == "SOURCES":
        return load_sources()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
