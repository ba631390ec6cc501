"""GPUs: every product that is known, with its peaks, and what was measured on it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from kernelindex.errors import NotFoundError
from kernelindex.registry.hardware import find_gpu, fold_name, gpu_names, load_products
from kernelindex.resolve.answer import Part
from kernelindex.resolve.problems import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex.catalog.group_reads import GroupCount
    from kernelindex.catalog.rows import HardwareRow
    from kernelindex.registry.products import Product

BF16, COPY = "bf16", "copy"


class GpuReads(Protocol):
    """What the catalog is asked for GPUs."""

    def hardware(self) -> Sequence[HardwareRow]: ...

    def operation_titles(self, slugs: Iterable[str]) -> dict[str, str]: ...

    def group_counts(self, **filters: str | None) -> Sequence[GroupCount]: ...


class GpuLine(Part):
    """One GPU in a list, measured here or not."""

    id: str = Field(description="product id, or the label as the source wrote it")
    label: str = Field(description="name to show")
    family: str = Field(description="product family")
    vendor: str = Field(description="vendor id")
    architecture: str = Field(description="architecture id")
    known: bool = Field(description="whether the table of products has it")
    run_count: int = Field(0, description="runs on it here")
    bf16_flops: float | None = Field(None, description="nominal dense bf16 FLOP/s")
    bandwidth_bytes_s: float | None = Field(None, description="nominal memory bandwidth")
    memory_bytes: int | None = Field(None, description="nominal memory")


class Peak(Part):
    """One rate of a GPU: nominal, and attainable where a runner measured it."""

    name: str = Field(description="dtype id, or `copy` for memory traffic")
    nominal: float | None = Field(None, description="nominal dense FLOP/s, or B/s for copy")
    attainable: float | None = Field(None, description="measured, in the same unit")
    attainable_source: str = Field("", description="where the measured one is from")


class Work(Part):
    """What was measured of one operation on a GPU."""

    operation: str = Field(description="operation slug or digest")
    title: str = Field(description="title of the operation")
    passes: dict[str, int] = Field(description="timed pass: number of groups")
    groups: int = Field(description="groups")
    contested: int = Field(description="groups of several entries")
    runs: int = Field(description="runs in them")


class GpuDossier(GpuLine):
    """A GPU with its peaks and what was measured on it."""

    form_factor: str | None = Field(None, description="form factor, where the name says it")
    l2_bytes: int | None = Field(None, description="second-level cache")
    power_watts: float | None = Field(None, description="nominal board power")
    tick_ns: int | None = Field(None, description="resolution of event times seen in data")
    tick_source: str = Field("", description="the data that it was seen in")
    source: str = Field("", description="where the nominal figures are printed")
    checked: str = Field("", description="a second place that prints the same rates")
    notes: str = Field("", description="what else there is to know")
    peaks: tuple[Peak, ...] = Field((), description="rates, fastest first, copy last")
    work: tuple[Work, ...] = Field((), description="operations, most runs first")


def list_gpus(catalog: GpuReads) -> tuple[GpuLine, ...]:
    """Every GPU that was measured on or that the table of products has."""
    products, rows = load_products(), {row.id: row for row in catalog.hardware()}
    measured = [_line(row, products.get(row.product_id or "")) for row in rows.values()]
    others = [_unmeasured(one) for one in products.values() if one.id not in rows]
    return (*measured, *others)


def show_gpu(catalog: GpuReads, ident: str) -> GpuDossier:
    """A GPU by product id or label, or by another name that means one product.

    Raises NotFoundError ``hardware.not_found``.
    """
    row = next((one for one in catalog.hardware() if one.id == ident), None)
    product = load_products().get((row.product_id if row else ident) or "")
    if row is None and product is None:
        raise _not_found(ident)
    line = _line(row, product) if row else _unmeasured(product) if product else None
    assert line is not None
    work = _work(catalog, line.id) if row else ()
    return GpuDossier(**line.model_dump(), **(_facts(product) if product else {}), work=work)


def _line(row: HardwareRow, product: Product | None) -> GpuLine:
    return GpuLine(
        id=row.id,
        label=row.label,
        family=row.family,
        vendor=row.vendor,
        architecture=row.architecture,
        known=product is not None,
        run_count=row.run_count,
        **_rates(product),
    )


def _unmeasured(product: Product) -> GpuLine:
    return GpuLine(
        id=product.id,
        label=product.name,
        family=product.family,
        vendor=product.vendor,
        architecture=product.architecture,
        known=True,
        **_rates(product),
    )


def _rates(product: Product | None) -> dict[str, float | int | None]:
    if product is None:
        return {}
    return {
        "bf16_flops": product.peaks_flops.get(BF16),
        "bandwidth_bytes_s": product.bandwidth_bytes_s,
        "memory_bytes": product.memory_bytes,
    }


def _facts(product: Product) -> dict[str, object]:
    names = ("form_factor", "l2_bytes", "power_watts", "tick_ns", "tick_source", "source")
    facts = {name: getattr(product, name) for name in (*names, "checked", "notes")}
    return {**facts, "peaks": tuple(_peaks(product))}


def _peaks(product: Product) -> Iterable[Peak]:
    nominal = {**product.peaks_flops}
    rates = sorted({*nominal, *product.attainable} - {COPY}, key=lambda n: (-nominal.get(n, 0), n))
    for name in (*rates, COPY):
        measured = product.attainable.get(name)
        peak = Peak(
            name=name,
            nominal=product.bandwidth_bytes_s if name == COPY else nominal.get(name),
            attainable=measured.value if measured else None,
            attainable_source=measured.source if measured else "",
        )
        if peak.nominal or peak.attainable:
            yield peak


def _work(catalog: GpuReads, ident: str) -> tuple[Work, ...]:
    by_operation: dict[str, list[GroupCount]] = defaultdict(list)
    for count in catalog.group_counts(hardware=ident):
        by_operation[count.operation].append(count)
    titles = catalog.operation_titles(by_operation)
    found = [
        Work(
            operation=slug,
            title=titles.get(slug, slug),
            passes=_passes(counts),
            groups=sum(one.groups for one in counts),
            contested=sum(one.contested for one in counts),
            runs=sum(one.runs for one in counts),
        )
        for slug, counts in by_operation.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.runs, one.title)))


def _passes(counts: Sequence[GroupCount]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for one in counts:
        found[one.timed_pass] += one.groups
    return dict(found)


def _not_found(ident: str) -> NotFoundError:
    near = [one.id for one in find_gpu(ident)]
    word = closest(fold_name(ident), gpu_names())
    near = near or ([one.id for one in find_gpu(word)] if word else [])
    hint = f"; perhaps {', '.join(near[:5])}" if near else ""
    return NotFoundError(
        f"no GPU is called {ident!r} here{hint}; /hardware lists them",
        code="hardware.not_found",
    )
