"""Sweeps: groups of one operation that differ in one axis only."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from pydantic import Field

from kernelindex.resolve.answer import Cohort, Part
from kernelindex.resolve.views import view_cohort

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow

LEAST_SIZES = 3
MOST_GROUPS = 200
MOST_ENTRIES = 8
MEMORY = "peak_memory"
PASS_ORDER = ("full", "backward", "forward", "inference", "unstated")


class SweepReads(Protocol):
    """What the catalog is asked for sweeps."""

    def cohorts(
        self,
        *,
        operation: str | None = None,
        hardware: Sequence[str] = (),
        passes: Sequence[str] = (),
        limit: int = 50,
    ) -> Sequence[CohortRow]: ...

    def cohort(self, key: str) -> CohortRow | None: ...

    def entries(
        self, cohort_keys: Sequence[str], *, first: int | None = None
    ) -> Mapping[str, Sequence[EntryRow]]: ...


class Sweep(Part):
    """One axis at three sizes or more, everything else equal."""

    axis: str = Field(description="the axis that varies")
    hardware: str = Field(description="label of the device")
    hardware_id: str = Field(description="product id, or empty where it is not known")
    timed_pass: str = Field(alias="pass", description="timed pass, or unstated")
    fixed: dict[str, int] = Field(description="the other axes")
    sizes: tuple[int, ...] = Field(description="measured sizes, smallest first")
    contested: int = Field(description="sizes at which several entries were measured")
    keys: tuple[str, ...] = Field(description="groups in the order of the sizes")


def find_sweeps(
    catalog: SweepReads,
    operation: str,
    *,
    hardware: str | None = None,
    timed_pass: str | None = None,
) -> tuple[Sweep, ...]:
    """The longest sweep of each axis, device and pass; the most contested first."""
    rows = catalog.cohorts(
        operation=operation,
        hardware=(hardware,) if hardware else (),
        passes=(timed_pass,) if timed_pass else (),
        limit=MOST_GROUPS,
    )
    longest: dict[tuple[str, ...], Sweep] = {}
    for sweep in _all(rows):
        named = (sweep.axis, sweep.hardware, sweep.timed_pass)
        if named not in longest or _order(sweep) < _order(longest[named]):
            longest[named] = sweep
    return tuple(sorted(longest.values(), key=_order))


def read_sweep(catalog: SweepReads, sweep: Sweep) -> tuple[Cohort, ...]:
    """The groups of a sweep with their first entries, by size of the axis."""
    rows = (catalog.cohort(key) for key in sweep.keys)
    entries = catalog.entries(sweep.keys, first=MOST_ENTRIES)
    return tuple(
        view_cohort(row, entries.get(row.key, ()), limit=MOST_ENTRIES) for row in rows if row
    )


def _all(rows: Iterable[CohortRow]) -> Iterable[Sweep]:
    along: dict[tuple[str, bytes], list[CohortRow]] = defaultdict(list)
    for row in rows:
        if row.metric != MEMORY:
            for axis in row.axes:
                along[axis, _setting(row, axis)].append(row)
    for (axis, _), group in along.items():
        by_size = {row.axes[axis]: row for row in group}
        contested = sum(row.entry_count > 1 for row in by_size.values())
        if len(by_size) >= LEAST_SIZES and contested > 1:
            yield _sweep(axis, by_size, contested)


def _setting(row: CohortRow, axis: str) -> bytes:
    """Everything that must be equal along an axis, as bytes to group by."""
    rest = {name: value for name, value in row.axes.items() if name != axis}
    equal = (rest, row.dtypes, row.distribution, row.timed_pass, row.device, row.protocol)
    what = (row.correctness, row.source, row.metric, row.statistic)
    return orjson.dumps((*equal, *what), option=orjson.OPT_SORT_KEYS)


def _sweep(axis: str, by_size: dict[int, CohortRow], contested: int) -> Sweep:
    sizes = tuple(sorted(by_size))
    first = by_size[sizes[0]]
    return Sweep(
        axis=axis,
        hardware=str(first.device.get("label") or first.device.get("product") or ""),
        hardware_id=str(first.device.get("product_id") or ""),
        timed_pass=first.timed_pass,
        fixed={name: value for name, value in first.axes.items() if name != axis},
        sizes=sizes,
        contested=contested,
        keys=tuple(by_size[size].key for size in sizes),
    )


def _order(sweep: Sweep) -> tuple[Any, ...]:
    place = PASS_ORDER.index(sweep.timed_pass) if sweep.timed_pass in PASS_ORDER else 9
    return (-sweep.contested, -len(sweep.sizes), place, sweep.hardware, sweep.axis)
