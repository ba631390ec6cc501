"""Near misses: cohorts that are not what was asked, nearest first, every difference said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.catalog.rows import CohortRow, EntryRow
from kernelindex.policy.distance import Wanted, near_miss
from kernelindex.policy.facts import DeviceClass, Shape
from kernelindex.registry.hardware import PRODUCTS
from kernelindex.resolve.answer import Difference, NearMiss
from kernelindex.resolve.matching import differences
from kernelindex.resolve.views import regime_of, view_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kernelindex.resolve.interpret import Meaning

MAX_NEAREST = 8

Scored = tuple[float, CohortRow]


def rank_near(rows: Iterable[CohortRow], meaning: Meaning) -> list[Scored]:
    """Cohorts with at least one difference, by policy's distance, then size, then key."""
    scored = [(distance(row, meaning), row) for row in rows if differences(row, meaning)]
    return sorted(scored, key=lambda pair: (pair[0], -pair[1].entry_count, pair[1].key))


def distance(row: CohortRow, meaning: Meaning) -> float:
    """How far a cohort is from the question, by ``policy.distance``."""
    shape = Shape(
        operation=row.operation,
        family=row.family,
        mapped=True,
        axes=tuple(row.axes.items()),
        dtypes=tuple(row.dtypes.items()),
        distribution=row.distribution,
    )
    missed = near_miss(wanted_of(row, meaning), shape, row.timed_pass, read_device(row.device))
    return round(missed.distance, 3)


def wanted_of(row: CohortRow, meaning: Meaning) -> Wanted:
    """The question for policy; of an ambiguous dtype the variant that the row has."""
    slugs = meaning.operation.slugs or (row.operation,)
    device = meaning.device
    products = [PRODUCTS[name] for name in device.product_ids] if device else []
    return Wanted(
        operation=row.operation if row.operation in slugs else slugs[0],
        axes=meaning.axes,
        dtypes=tuple(_variant(wish, row) for wish in meaning.dtypes),
        timed_pass=meaning.request.timed_pass,
        product_ids=device.product_ids if device else (),
        families=(device.family,) if device and device.family else (),
        architectures=tuple({product.architecture for product in products}),
        vendors=tuple({product.vendor for product in products}),
    )


def read_device(device: Mapping[str, object]) -> DeviceClass:
    """A stored device as policy's device class."""
    known = {
        name: value
        for name, value in device.items()
        if name in DeviceClass.__dataclass_fields__ and value is not None
    }
    defaults = dict.fromkeys(("vendor", "product", "family", "architecture"), "")
    return DeviceClass(**{**defaults, **known})  # type: ignore[arg-type]


def view_near(
    scored: Sequence[Scored],
    entries: Mapping[str, Sequence[EntryRow]],
    meaning: Meaning,
    shown: Sequence[CohortRow] = (),
) -> tuple[NearMiss, ...]:
    """Near misses as parts of an answer.

    Where cohorts answer the question, ``shown``, other protocols and sources than theirs are
    differences as well.
    """
    return tuple(
        NearMiss(
            distance=far,
            differences=(*differences(row, meaning), *_other_rules(row, shown)),
            cohort=view_head(row, entries.get(row.key, ())),
        )
        for far, row in scored
    )


def _other_rules(row: CohortRow, shown: Sequence[CohortRow]) -> Iterator[Difference]:
    """How the measuring itself differs from that of the cohorts which answer."""
    if not shown:
        return
    beside = shown[0]
    if row.source != beside.source:
        text = f"source {row.source}"
        yield Difference(field="source", asked=beside.source, found=row.source, text=text)
    other = regime_of(row)
    same_name = beside.protocol.get("name") == row.protocol.get("name")
    if same_name and row.timed_pass == beside.timed_pass:
        yield from _version_difference(beside, row)
        yield from _rule_differences(beside, row)
    elif set(map(regime_of, shown)) != {other}:
        yield Difference(field="protocol", asked=regime_of(beside), found=other, text=other)


def _version_difference(beside: CohortRow, row: CohortRow) -> Iterator[Difference]:
    mine, other = (str(one.protocol.get("version") or "not stated") for one in (beside, row))
    if mine != other:
        text = f"protocol version {other} instead of {mine}"
        yield Difference(field="protocol.version", asked=mine, found=other, text=text)


def _rule_differences(beside: CohortRow, row: CohortRow) -> Iterator[Difference]:
    """Rules of one protocol that are not the same; those of another pass differ by nature."""
    mine, other = beside.protocol.get("rules") or {}, row.protocol.get("rules") or {}
    for name in sorted(mine.keys() | other.keys()):
        asked, found = mine.get(name, "not stated"), other.get(name, "not stated")
        if asked != found:
            text = f"{name} {found} instead of {asked}".replace("_", " ")
            yield Difference(field=f"protocol.{name}", asked=asked, found=found, text=text)


def _variant(wish: tuple[str, ...], row: CohortRow) -> str:
    found = set(row.dtypes.values())
    return next((name for name in wish if name in found), wish[0])
