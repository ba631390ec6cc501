"""What the catalog has for a question: what fits, what is near, what is on either side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kernelindex.policy.facts import Profile
from kernelindex.resolve.blocks import pass_rank
from kernelindex.resolve.matching import differences, is_asked_metric
from kernelindex.resolve.nearest import MAX_NEAREST, rank_near
from kernelindex.resolve.neighbours import Between, find_between
from kernelindex.resolve.variants import age_of, newest_variants, setting_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kernelindex.catalog.rows import CohortRow, EntryRow
    from kernelindex.resolve.interpret import Device, Meaning
    from kernelindex.resolve.reads import Reads

READ_LIMIT = 100
WIDE_LIMIT = 400


@dataclass(frozen=True, slots=True)
class Findings:
    """Cohorts that fit the question, and those that do not but are near.

    ``beside`` has the asked shape in every pass and on every device, ``controlled`` what was
    read of controlled groups, fitting or not. ``read_all`` is false when more cohorts may fit
    than were read. ``unmet`` fit, but have no entry that meets the question's conditions.
    """

    fits: tuple[CohortRow, ...]
    near: tuple[tuple[float, CohortRow], ...]
    between: tuple[Between, ...] = ()
    read_all: bool = True
    beside: tuple[CohortRow, ...] = ()
    controlled: tuple[CohortRow, ...] = ()
    unmet: tuple[CohortRow, ...] = ()

    def only(self, keys: Collection[str]) -> Findings:
        """Without the groups that are not among ``keys``; those that fit become ``unmet``."""
        return replace(
            self,
            fits=tuple(row for row in self.fits if row.key in keys),
            near=tuple((far, row) for far, row in self.near if row.key in keys),
            unmet=tuple(row for row in self.fits if row.key not in keys),
        )

    def with_unmet(self) -> Findings:
        """With the groups that conditions left out behind those that they kept."""
        return replace(self, fits=(*self.fits, *self.unmet), unmet=())

    def in_reading_order(
        self, shown: Sequence[CohortRow], entries: Mapping[str, Sequence[EntryRow]]
    ) -> Findings:
        """The same with the shown cohorts ordered for a reader.

        By operation, pass, device and axes; of groups that differ in none of them controlled
        ones come first, then the one with the best first entry. One whose harness variant
        is superseded follows the newer one of its setting.
        """
        keys = {row.key for row in shown}
        rest = [row for row in self.fits if row.key not in keys]
        slugs = list(dict.fromkeys(row.operation for row in shown))
        newest = newest_variants(shown)

        def place(row: CohortRow) -> tuple[Any, ...]:
            first = entries[newest[setting_of(row)].key][0]
            best = -first.value if row.direction == "higher" else first.value
            axes = tuple(sorted(row.axes.items()))
            label = str(row.device.get("label", ""))
            setting = (slugs.index(row.operation), pass_rank(row.timed_pass), label, axes)
            return (*setting, row.profile != Profile.CONTROLLED, best, age_of(row))

        return replace(self, fits=(*sorted(shown, key=place), *rest))

    def named(self, shown: Sequence[CohortRow]) -> tuple[CohortRow, ...]:
        """Every cohort an answer names, without repeats."""
        near = [row for _, row in self.near]
        sides = [row for pair in self.between for row in pair.rows]
        return tuple({row.key: row for row in [*shown, *near, *sides]}.values())


def find(catalog: Reads, meaning: Meaning, *, most_near: int = MAX_NEAREST) -> Findings:
    """Read what fits and what stands beside it.

    With axes one read gives the shape on every device and pass; only where that is more
    than was read are device and pass asked for as well.
    """
    beside = _beside(catalog, meaning) if meaning.axes else []
    rows = beside
    if not beside or len(beside) >= READ_LIMIT:
        rows = _read(catalog, meaning, axes=True, setting=True, limit=READ_LIMIT)
    fits = _fitting(rows, meaning)
    if fits:
        near = rank_near(beside, meaning)[:most_near]
        read = _unique([*rows, *beside])
        return Findings(
            tuple(fits),
            tuple(near),
            read_all=len(rows) < READ_LIMIT,
            beside=tuple(beside),
            controlled=tuple(row for row in read if row.profile == Profile.CONTROLLED),
        )
    return _miss(catalog, meaning, _unique([*rows, *beside]), most_near)


def _miss(catalog: Reads, meaning: Meaning, rows: list[CohortRow], most_near: int) -> Findings:
    """Nothing fits: the same shape elsewhere, other shapes in the same setting, then any."""
    wide = _read(catalog, meaning, axes=False, setting=True, limit=WIDE_LIMIT)
    pool = _unique([*rows, *wide])
    if not pool:
        pool = _read(catalog, meaning, axes=False, setting=False, limit=WIDE_LIMIT)
    near = rank_near(pool, meaning)[:most_near]
    return Findings((), tuple(near), find_between(pool, meaning))


def _beside(catalog: Reads, meaning: Meaning) -> list[CohortRow]:
    if not meaning.operation.slugs:
        return []
    return _read(catalog, meaning, axes=True, setting=False, limit=READ_LIMIT)


def _read(
    catalog: Reads, meaning: Meaning, *, axes: bool, setting: bool, limit: int
) -> list[CohortRow]:
    """Cohorts by operation, with or without the axes and the setting (device, pass)."""
    filters: dict[str, Any] = {"limit": limit}
    if axes and meaning.axes:
        filters["axes"] = meaning.axes
    if setting and meaning.device:
        filters |= device_filters(meaning.device)
    if setting and meaning.request.timed_pass:
        filters["passes"] = (meaning.request.timed_pass,)
    found: list[CohortRow] = []
    for slug in meaning.operation.slugs or (None,):
        found += catalog.cohorts(operation=slug, **filters)
    return [row for row in found if is_asked_metric(row, meaning)]


def device_filters(device: Device) -> dict[str, Any]:
    """A device as filters of the catalog; a family takes what nobody said the form of."""
    return {
        "product_ids": device.product_ids,
        "families": (device.family,) if device.whole_family and device.family else (),
        "hardware": device.hardware_ids,
    }


def _fitting(rows: Iterable[CohortRow], meaning: Meaning) -> list[CohortRow]:
    """Passes take turns, so that an answer that has no room for all groups has some of each."""
    fits = sorted((row for row in rows if not differences(row, meaning)), key=_order)
    turns: Counter[str] = Counter()
    numbered = []
    for row in fits:
        numbered.append((turns[row.timed_pass], row))
        turns[row.timed_pass] += 1
    return [row for _, row in sorted(numbered, key=itemgetter(0))]


def _order(row: CohortRow) -> tuple[Any, ...]:
    """Order of groups for an answer: by pass, larger groups first."""
    return (pass_rank(row.timed_pass), -row.entry_count, row.device.get("label", ""), row.key)


def _unique(rows: Iterable[CohortRow]) -> list[CohortRow]:
    return list({row.key: row for row in rows}.values())
